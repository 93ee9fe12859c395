-- A client's finish over HTTP: QueueStore, Outbox.
BEGIN;
SELECT 1
FROM (
    SELECT DISTINCT account_id COLLATE "C" AS account_id, bundle_id COLLATE "C" AS bundle_id
    FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
    ORDER BY account_id, bundle_id
) AS wanted CROSS JOIN LATERAL (
    SELECT 1 FROM queues
    WHERE queues.account_id = wanted.account_id AND queues.bundle_id = wanted.bundle_id
    FOR UPDATE
) AS locked;
SELECT transaction_id, account_id, bundle_id, version, state, revoked_at, is_delivered,
    finished_at, contents, traceparent, transaction
FROM queue_transactions
WHERE transaction_id = ANY(
    ARRAY(SELECT id FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)));
UPDATE queues SET revision = queues.revision + changed.count
FROM (
    SELECT account_id, bundle_id, count(*) AS count
    FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
    GROUP BY account_id, bundle_id
) AS changed
WHERE queues.account_id = changed.account_id AND queues.bundle_id = changed.bundle_id
RETURNING queues.account_id, queues.bundle_id, queues.revision - changed.count;
UPDATE queue_transactions
SET finished_at = finished.time, changed_at = finished.time, revision = finished.revision
FROM (
    SELECT id AS transaction_id, 2 * id AS revision, now() AS time
    FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
) AS finished
WHERE queue_transactions.transaction_id = finished.transaction_id;
WITH appended AS (
    INSERT INTO outbox (xid, event_id, type, topic, key, subject, time, traceparent, data)
    SELECT (SELECT outbox_place()), ceiling.uuid('5', id), 'transaction.finished.v1', 'fulfillment.transactions',
        account_id, id::text, now(), (SELECT ceiling.bytes('trace')),
        (SELECT ceiling.bytes('finished'))
    FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
    RETURNING 1
)
SELECT pg_notify('outbox', '') FROM (SELECT count(*) FROM appended) AS counted;
COMMIT;
