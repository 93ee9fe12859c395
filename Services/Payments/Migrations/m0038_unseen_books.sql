-- A database from before m0037 that has just been upgraded, or restored from an older backup. It does not say
-- when an instance was last seen. So it counts as never seen, and the store has a gap: what may be charged
-- already is looked for once. A new store has lost nothing.
INSERT INTO book_memory (seen_at)
SELECT timestamptz 'epoch'
WHERE EXISTS (SELECT FROM subscriptions) AND NOT EXISTS (SELECT FROM book_memory);
