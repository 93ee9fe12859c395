-- The events that record an act of a person, and an event by its id, for the console.
--
-- A packed document keeps the name "decidedBy" as it is, because no text of the dictionary has it. So
-- this index has a row for each such event and for hardly any other. An append of any other event only
-- looks for these bytes; it touches no page of the index.
CREATE INDEX outbox_of_acts ON outbox (xid, position)
    WHERE position('\x22646563696465644279223a'::bytea IN data) > 0;
-- An id begins with its time, so ranges of blocks have ranges of ids.
CREATE INDEX outbox_by_event_id ON outbox
    USING brin (event_id uuid_minmax_multi_ops) WITH (pages_per_range = 64, autosummarize = on);
