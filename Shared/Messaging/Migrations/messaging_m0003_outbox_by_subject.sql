-- The events of one transaction, for who asks why (`counterfoil why`).
--
-- Blocks with a Bloom filter each, and not a B-tree or a hash: the log is only ever appended to, so
-- the events of a purchase lie in few blocks. An append touches no page of the index; autovacuum
-- summarizes a range once it is full. Measured over a million events, 500 in a commit: 1 % more WAL
-- than without and 2 MB, against 11 % and 38 MB of a hash index.
CREATE INDEX outbox_by_subject ON outbox
    USING brin (subject text_bloom_ops (n_distinct_per_range = 1000, false_positive_rate = 0.01))
    WITH (pages_per_range = 64, autosummarize = on);
