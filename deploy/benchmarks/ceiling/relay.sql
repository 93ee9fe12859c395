-- RelayLeadership, in each of the databases: the settled rows of RelayStore.nextRows, and RelayStore.save with the seals.
SELECT xid, position, event_id, type, topic, key, subject, time, traceparent, data
FROM outbox
WHERE (xid, position) > (:relayed_xid::text::xid8, :relayed_position::bigint)
    AND xid < (SELECT outbox_settled())
ORDER BY xid, position
LIMIT :n::int \aset relayed_
WITH lead AS (
    SELECT term FROM leads WHERE name = 'relay' FOR SHARE
), offsets AS (
    INSERT INTO relay_offsets (topic, partition, last_offset)
    SELECT :relayed_topic::text, partition, -1
    FROM generate_series(0, :partitions::int - 1) AS partition
    ON CONFLICT (topic, partition) DO UPDATE SET last_offset = relay_offsets.last_offset
), tips AS (
    INSERT INTO relay_chains (topic, chain, xid, position, confirmed_xid, confirmed_position)
    SELECT :relayed_topic::text, slot::text, '0', 0, '0', 0
    FROM generate_series(0, least(16, :n::int) - 1) AS slot
    ON CONFLICT (topic, chain) DO UPDATE SET
        xid = relay_chains.xid, position = relay_chains.position,
        confirmed_xid = relay_chains.confirmed_xid,
        confirmed_position = relay_chains.confirmed_position
), sealed AS (
    INSERT INTO log_seals (log, month, number, follows_month, follows_number, first_xid,
        first_position, last_xid, last_position, row_count, marks, digest)
    SELECT 'outbox', to_char(now(), 'YYYY-MM'), coalesce(max(number), 0) + 1, NULL, NULL, '0', 0,
        :relayed_xid::text::xid8, :relayed_position::bigint, :n::int,
        decode(repeat('5ea1ab1e5ea1ab1e', :n::int), 'hex'), sha256('sealed')
    FROM log_seals WHERE log = 'outbox' AND month = to_char(now(), 'YYYY-MM')
)
UPDATE relay_place SET
    epoch = relay_place.epoch, xid = :relayed_xid::text::xid8,
    position = :relayed_position::bigint, confirmed_xid = :relayed_xid::text::xid8,
    confirmed_position = :relayed_position::bigint;
