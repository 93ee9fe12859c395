-- The trace under which the transaction entered the queue. Its deliveries and its finish continue
-- that trace, no matter who finishes it or when. Older transactions have none.
ALTER TABLE queue_transactions ADD COLUMN traceparent bytea;
