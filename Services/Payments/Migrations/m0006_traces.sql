-- The trace in which the transaction began. Every later step belongs to it, no matter which process
-- does the step. Older transactions have none.
ALTER TABLE transactions ADD COLUMN traceparent bytea;
