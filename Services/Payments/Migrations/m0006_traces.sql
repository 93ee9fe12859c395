-- The trace that a transaction began in: what becomes of it later, by whichever process, belongs to
-- the same one. Transactions of before have none.
ALTER TABLE transactions ADD COLUMN traceparent text;
