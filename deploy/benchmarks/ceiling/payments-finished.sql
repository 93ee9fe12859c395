-- ProjectionHandler of payments: ConsumerPlaceStore. The finish of a consumable changes nothing else.
BEGIN;
SELECT DISTINCT key FROM dead_letters
WHERE consumer = 'payments' AND key = ANY(ARRAY(
        SELECT account_id FROM ceiling.batch(:first::bigint, :n::int, :accounts::int)))
    AND state IN ('dead', 'parked');
SELECT topic, chain, xid, position FROM consumer_places
WHERE consumer = 'payments' AND (topic, chain) IN (
    SELECT 'fulfillment.transactions', slot::text FROM generate_series(0, least(16, :n::int) - 1) AS slot)
ORDER BY topic, chain FOR UPDATE;
WITH moved AS (
    INSERT INTO consumer_places (consumer, topic, chain)
    SELECT 'payments', 'fulfillment.transactions', slot::text FROM generate_series(0, least(16, :n::int) - 1) AS slot
    ON CONFLICT (consumer, topic, chain) DO UPDATE SET
        xid = consumer_places.xid, position = consumer_places.position
)
INSERT INTO consumer_positions (consumer, topic, partition, epoch, next_offset, event_time)
SELECT 'payments', 'fulfillment.transactions', partition, 1, 0, now()
FROM generate_series(0, :partitions::int - 1) AS partition
ON CONFLICT (consumer, topic, partition) DO UPDATE SET
    epoch = consumer_positions.epoch, next_offset = consumer_positions.next_offset,
    event_time = consumer_positions.event_time;
COMMIT;
