-- TransactionHandler of a purchase: ConsumerPlaceStore, QueueStore, DeliveryStore, Outbox.
BEGIN;
SELECT DISTINCT key FROM dead_letters
WHERE consumer = 'fulfillment' AND key = ANY(ARRAY(
        SELECT account_id FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)))
    AND state IN ('dead', 'parked');
SELECT topic, chain, xid, position FROM consumer_places
WHERE consumer = 'fulfillment' AND (topic, chain) IN (
    SELECT 'payments.transactions', slot::text FROM generate_series(0, least(16, :n::int) - 1) AS slot)
ORDER BY topic, chain FOR UPDATE;
INSERT INTO queues (account_id, bundle_id)
SELECT DISTINCT account_id, bundle_id
FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
ORDER BY account_id, bundle_id
ON CONFLICT (account_id, bundle_id) DO UPDATE SET revision = queues.revision WHERE false;
SELECT transaction_id, account_id, bundle_id, version, state, revoked_at, is_delivered,
    finished_at, contents
FROM queue_transactions
WHERE transaction_id = ANY(
    ARRAY(SELECT id FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)));
SELECT DISTINCT ON (product_id) product_id, content_version, length, sha256 FROM hosted_contents
WHERE product_id = ANY('{com.example.coins.100}'::text[]) AND withdrawn_at IS NULL
ORDER BY product_id, created_at DESC, content_version DESC;
UPDATE queues SET revision = queues.revision + changed.count
FROM (
    SELECT account_id, bundle_id, count(*) AS count
    FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
    GROUP BY account_id, bundle_id
) AS changed
WHERE queues.account_id = changed.account_id AND queues.bundle_id = changed.bundle_id
RETURNING queues.account_id, queues.bundle_id, queues.revision - changed.count;
INSERT INTO queue_transactions
    (transaction_id, account_id, bundle_id, version, state, revoked_at, transaction,
    is_delivered, finished_at, contents, revision, changed_at, traceparent)
SELECT id, account_id, bundle_id, 2, 'purchased', NULL,
    (SELECT ceiling.bytes('purchased snapshot')), true, NULL, NULL,
    1 * id, now(), (SELECT ceiling.bytes('trace'))
FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
ON CONFLICT (transaction_id) DO UPDATE SET
    version = excluded.version, state = excluded.state, revoked_at = excluded.revoked_at,
    transaction = excluded.transaction, is_delivered = excluded.is_delivered,
    finished_at = excluded.finished_at, contents = excluded.contents,
    revision = excluded.revision, changed_at = excluded.changed_at;
INSERT INTO credit_entries
    (transaction_id, account_id, bundle_id, unit, kind, number, amount, created_at)
SELECT id, account_id, bundle_id, 'coins', 'grant', 0, 100, now()
FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
ON CONFLICT (transaction_id, unit, kind, number) DO NOTHING;
WITH appended AS (
    INSERT INTO outbox (xid, event_id, type, topic, key, subject, time, traceparent, data)
    SELECT (SELECT outbox_place()), ceiling.uuid('8', id), 'queue.changed.v1', 'fulfillment.queues',
        account_id, id::text, now(), (SELECT ceiling.bytes('trace')),
        (SELECT ceiling.bytes('purchased change'))
    FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
    RETURNING 1
)
SELECT pg_notify('outbox', '') FROM (SELECT count(*) FROM appended) AS counted;
WITH moved AS (
    INSERT INTO consumer_places (consumer, topic, chain)
    SELECT 'fulfillment', 'payments.transactions', slot::text FROM generate_series(0, least(16, :n::int) - 1) AS slot
    ON CONFLICT (consumer, topic, chain) DO UPDATE SET
        xid = consumer_places.xid, position = consumer_places.position
)
INSERT INTO consumer_positions (consumer, topic, partition, epoch, next_offset, event_time)
SELECT 'fulfillment', 'payments.transactions', partition, 1, 0, now()
FROM generate_series(0, :partitions::int - 1) AS partition
ON CONFLICT (consumer, topic, partition) DO UPDATE SET
    epoch = consumer_positions.epoch, next_offset = consumer_positions.next_offset,
    event_time = consumer_positions.event_time;
COMMIT;
