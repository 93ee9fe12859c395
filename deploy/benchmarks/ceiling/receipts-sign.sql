-- ReceiptHandler of a purchase: ConsumerPlaceStore, ServerAPIStore, ReceiptStore, Outbox, the announcements' look.
BEGIN;
SELECT DISTINCT key FROM dead_letters
WHERE consumer = 'receipts' AND key = ANY(ARRAY(
        SELECT account_id FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)))
    AND state IN ('dead', 'parked');
SELECT topic, chain, xid, position FROM consumer_places
WHERE consumer = 'receipts' AND (topic, chain) IN (
    SELECT 'payments.transactions', slot::text FROM generate_series(0, least(16, :n::int) - 1) AS slot)
ORDER BY topic, chain FOR UPDATE;
-- The store inserts only accounts that are new.
INSERT INTO app_transactions (account_id, bundle_id, first_seen_at)
SELECT DISTINCT account_id, bundle_id, now()
FROM ceiling.batch(:first::bigint, :n::int, :accounts::int) AS new
WHERE NOT EXISTS (SELECT FROM app_transactions AS known
    WHERE known.account_id = new.account_id AND known.bundle_id = new.bundle_id)
ORDER BY account_id, bundle_id
ON CONFLICT (account_id, bundle_id) DO NOTHING;
SELECT account_id, bundle_id, app_transaction_id
FROM (SELECT DISTINCT account_id COLLATE "C" AS account_id, bundle_id COLLATE "C" AS bundle_id
    FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
    ORDER BY account_id, bundle_id) AS wanted
CROSS JOIN LATERAL (SELECT app_transaction_id FROM app_transactions AS known
    WHERE known.account_id = wanted.account_id AND known.bundle_id = wanted.bundle_id
    FOR NO KEY UPDATE) AS locked;
SELECT nextval('history_positions') FROM generate_series(1, :n::int);
SELECT original_transaction_id, app_account_token FROM app_account_tokens
WHERE original_transaction_id = ANY(
    ARRAY(SELECT id FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)));
SELECT number FROM signing_chains WHERE leaf_sha256 = sha256('leaf');
INSERT INTO signed_transactions (
    transaction_id, original_transaction_id, app_transaction_id, history_position, purchased_at,
    revoked_at, signed_at, revision, signing_chain, reason, product_id, product_type,
    standing_refunds, reversed_refunds, payload, signature)
SELECT id, id, app_transaction_id, id, now(), NULL, now(), 2, 1, 'purchase',
    'com.example.coins.100', 'consumable', NULL, NULL,
    (SELECT ceiling.bytes('payload')),
    (SELECT ceiling.bytes('signature'))
FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
JOIN app_transactions USING (account_id, bundle_id)
ON CONFLICT (transaction_id) DO NOTHING
RETURNING transaction_id;
WITH appended AS (
    INSERT INTO outbox (xid, event_id, type, topic, key, subject, time, traceparent, data)
    SELECT (SELECT outbox_place()), ceiling.uuid('6', id), 'receipt.issued.v1',
        'receipts.issued', account_id, id::text, now(), (SELECT ceiling.bytes('trace')),
        (SELECT ceiling.bytes('issued'))
    FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
    RETURNING 1
)
SELECT pg_notify('outbox', '') FROM (SELECT count(*) FROM appended) AS counted;
SELECT bundle_id, url FROM notification_endpoints
WHERE bundle_id = ANY('{com.example.app}'::text[]);
WITH moved AS (
    INSERT INTO consumer_places (consumer, topic, chain)
    SELECT 'receipts', 'payments.transactions', slot::text FROM generate_series(0, least(16, :n::int) - 1) AS slot
    ON CONFLICT (consumer, topic, chain) DO UPDATE SET
        xid = consumer_places.xid, position = consumer_places.position
)
INSERT INTO consumer_positions (consumer, topic, partition, epoch, next_offset, event_time)
SELECT 'receipts', 'payments.transactions', partition, 1, 0, now()
FROM generate_series(0, :partitions::int - 1) AS partition
ON CONFLICT (consumer, topic, partition) DO UPDATE SET
    epoch = consumer_positions.epoch, next_offset = consumer_positions.next_offset,
    event_time = consumer_positions.event_time;
COMMIT;
