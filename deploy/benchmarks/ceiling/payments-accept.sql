-- PaymentHandler.accept: ProductStore, AccountStore, TransactionStore, AttemptStore, Outbox.
BEGIN;
SELECT asked.account_id, asked.idempotency_key, used.fingerprint, used.id
FROM (
    SELECT account_id, 'key-' || id FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
) AS asked (account_id, idempotency_key)
CROSS JOIN LATERAL (
    SELECT t.fingerprint, t.id FROM transactions t
    WHERE t.account_id = asked.account_id AND t.idempotency_key = asked.idempotency_key
    LIMIT 1
) AS used;
SELECT p.id, CASE WHEN p.version = known.version THEN NULL ELSE p.data END
FROM unnest('{com.example.coins.100}'::text[], '{1}'::int[]) AS known (id, version)
JOIN products p USING (id);
SELECT account_id, bundle_id, can_make_payments, storefront
FROM (
    SELECT DISTINCT account_id, bundle_id
    FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
) AS asked
JOIN accounts USING (account_id, bundle_id);
SELECT next_transaction_id() FROM generate_series(1, :n::int);
INSERT INTO transactions (
    id, original_id, version, state, account_id, bundle_id, product_id, product_version,
    product_type, quantity, storefront, price, currency, application_username, delivery_plan,
    requested_at, purchased_at, original_purchased_at, failure_reason, tax_basis_points,
    traceparent, reason, idempotency_key, fingerprint, subscription)
SELECT id, id, 1, 'purchasing', account_id, bundle_id, 'com.example.coins.100', 1, 'consumable', 1,
    'USA', 99, 'USD', NULL, (SELECT ceiling.sample('plan')), now(), NULL, NULL, NULL, 0,
    (SELECT ceiling.bytes('trace')), 'purchase', 'key-' || id, decode(repeat('dc', 16), 'hex'),
    NULL::json
FROM ceiling.batch(:first::bigint, :n::int, :accounts::int);
INSERT INTO processor_attempts (
    transaction_id, kind, number, attempt_id, step, payment_method, amount, currency, is_approved,
    undoes, revokes, idempotency_key, fingerprint, outcome, due_at, waits_for,
    renewal_try, is_owed, first_called_at, lease_owner)
SELECT id, 'charge', 1, ceiling.uuid('1', id), 'calling', 'sandbox_success', 99, 'USD', false, NULL,
    false, NULL, NULL, NULL, now() + interval '10 s', NULL, NULL::int, false,
    now(), ceiling.uuid('0', 1)
FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
ON CONFLICT (transaction_id, kind, number) DO NOTHING;
WITH appended AS (
    INSERT INTO outbox (xid, event_id, type, topic, key, subject, time, traceparent, data)
    SELECT (SELECT outbox_place()), ceiling.uuid('2', id), 'transaction.purchasing.v1',
        'payments.transactions', account_id, id::text, now(), (SELECT ceiling.bytes('trace')),
        (SELECT ceiling.bytes('purchasing'))
    FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
    RETURNING 1
)
SELECT pg_notify('outbox', '') FROM (SELECT count(*) FROM appended) AS counted;
COMMIT;
