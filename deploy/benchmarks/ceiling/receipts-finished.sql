-- ReceiptHandler of a finish: Inbox, ReceiptStore.recordFinishes.
BEGIN;
SELECT DISTINCT key FROM dead_letters
WHERE consumer = 'receipts' AND key = ANY(ARRAY(
        SELECT account_id FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)))
    AND state IN ('dead', 'parked');
INSERT INTO inbox (consumer, event_id)
SELECT 'receipts', ceiling.uuid('5', id)
FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
ON CONFLICT DO NOTHING
RETURNING event_id;
INSERT INTO transaction_finishes (transaction_id, finished_at)
SELECT id, now() FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)
ON CONFLICT (transaction_id) DO NOTHING;
INSERT INTO consumer_positions (consumer, topic, partition, epoch, xid, position, event_time)
SELECT 'receipts', 'fulfillment.transactions', partition, 1, '0', 0, now()
FROM generate_series(0, :partitions::int - 1) AS partition
ON CONFLICT (consumer, topic, partition) DO UPDATE SET
    epoch = consumer_positions.epoch, xid = consumer_positions.xid,
    position = consumer_positions.position, event_time = consumer_positions.event_time;
COMMIT;
