-- The trace that a transaction began in: every later step, by whichever process, belongs to
-- the same one. Earlier transactions have none.
ALTER TABLE transactions ADD COLUMN traceparent bytea;
