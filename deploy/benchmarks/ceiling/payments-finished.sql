-- FinishHandler of payments: Inbox, TransactionStore.finish.
BEGIN;
SELECT DISTINCT key FROM dead_letters
WHERE consumer = 'payments' AND key = ANY(ARRAY(
        SELECT account_id FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)))
    AND state IN ('dead', 'parked');
INSERT INTO inbox (consumer, event_id)
SELECT 'payments', ceiling.uuid('5', id)
FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
ON CONFLICT DO NOTHING
RETURNING event_id;
-- By an array: a join may begin with the table, and read all of it.
UPDATE transactions AS t SET finished_at = now()
WHERE t.id = ANY(ARRAY(SELECT id FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)))
    AND t.finished_at IS NULL
    AND t.product_type IN ('nonConsumable', 'autoRenewableSubscription');
INSERT INTO consumer_positions (consumer, topic, partition, epoch, xid, position, event_time)
SELECT 'payments', 'fulfillment.transactions', partition, 1, '0', 0, now()
FROM generate_series(0, :partitions::int - 1) AS partition
ON CONFLICT (consumer, topic, partition) DO UPDATE SET
    epoch = consumer_positions.epoch, xid = consumer_positions.xid,
    position = consumer_positions.position, event_time = consumer_positions.event_time;
COMMIT;
