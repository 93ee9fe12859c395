-- TransactionHandler of an accepted payment that is over by now: Inbox, QueueStore.
BEGIN;
SELECT DISTINCT key FROM dead_letters
WHERE consumer = 'fulfillment' AND key = ANY(ARRAY(
        SELECT account_id FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)))
    AND state IN ('dead', 'parked');
INSERT INTO inbox (consumer, event_id)
SELECT 'fulfillment', ceiling.uuid('2', id)
FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
ON CONFLICT DO NOTHING
RETURNING event_id;
SELECT transaction_id FROM queue_transactions
WHERE transaction_id = ANY(
    ARRAY(SELECT id FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)));
INSERT INTO consumer_positions (consumer, topic, partition, epoch, xid, position, event_time)
SELECT 'fulfillment', 'payments.purchasing', partition, 1, '0', 0, now()
FROM generate_series(0, :partitions::int - 1) AS partition
ON CONFLICT (consumer, topic, partition) DO UPDATE SET
    epoch = consumer_positions.epoch, xid = consumer_positions.xid,
    position = consumer_positions.position, event_time = consumer_positions.event_time;
COMMIT;
