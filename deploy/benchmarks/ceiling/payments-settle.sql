-- OutcomeHandler.settle: TransactionStore, AttemptStore, LedgerStore, Outbox.
BEGIN;
SELECT t.id, t.original_id, t.version, t.state, t.account_id, t.bundle_id, t.product_id,
    t.product_version, t.product_type, t.quantity, t.storefront, t.price, t.currency,
    t.application_username, t.delivery_plan, t.requested_at, t.purchased_at,
    t.original_purchased_at, t.failure_reason, t.revoked_at, t.approval, t.tax_basis_points,
    t.traceparent, t.reason, t.refunds, t.subscription
FROM transactions t
WHERE t.id = ANY(ARRAY(SELECT id FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)))
ORDER BY t.id FOR UPDATE;
SELECT a.transaction_id, a.kind, a.number, a.attempt_id, a.step, a.payment_method, a.amount,
    a.currency, a.is_approved, a.call_count, a.undoes, a.revokes, a.idempotency_key,
    a.fingerprint, a.reference, a.outcome, a.due_at, a.approval_ends_at, a.waits_for,
    a.renewal_try, a.is_owed, a.act, a.first_called_at, a.generation, a.is_uncalled,
    a.action_ends_at, a.advice
FROM processor_attempts a
WHERE a.transaction_id = ANY(
    ARRAY(SELECT id FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)))
ORDER BY a.transaction_id, a.kind, a.number FOR UPDATE;
UPDATE transactions AS t SET
    original_id = u.id, version = 2, state = 'purchased', price = 99, purchased_at = now(),
    original_purchased_at = now(), failure_reason = NULL, revoked_at = NULL, approval = NULL,
    reason = 'purchase', refunds = NULL, subscription = NULL
FROM ceiling.batch(:first::bigint, :n::int, :accounts::int) AS u
WHERE t.id = u.id;
UPDATE processor_attempts AS a SET
    step = 'settled', is_approved = false, call_count = 0,
    reference = 'sandbox-' || ceiling.uuid('1', u.id), outcome = 'charged', due_at = NULL,
    approval_ends_at = NULL, waits_for = NULL, first_called_at = a.first_called_at, generation = 1,
    is_uncalled = false, action_ends_at = NULL, advice = NULL, lease_owner = ceiling.uuid('0', 1)
FROM ceiling.batch(:first::bigint, :n::int, :accounts::int) AS u
WHERE a.transaction_id = u.id AND a.kind = 'charge' AND a.number = 1;
INSERT INTO ledger_postings (
    xid, transaction_id, kind, number, id, posted_at, currency, accounts, amounts)
SELECT (SELECT outbox_xid()), id, 'purchase', 1, ceiling.uuid('3', id), now(), 'USD',
    ARRAY[concat('buyer', ':', account_id), 'store_revenue'], ARRAY[-99, 99]
FROM ceiling.batch(:first::bigint, :n::int, :accounts::int);
WITH appended AS (
    INSERT INTO outbox (xid, event_id, type, topic, key, subject, time, traceparent, data)
    SELECT (SELECT outbox_place()), ceiling.uuid('4', id), 'transaction.purchased.v1',
        'payments.transactions', account_id, id::text, now(), (SELECT ceiling.bytes('trace')),
        (SELECT ceiling.bytes('purchased'))
    FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
    RETURNING 1
)
SELECT pg_notify('outbox', '') FROM (SELECT count(*) FROM appended) AS counted;
COMMIT;
