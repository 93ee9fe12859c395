-- The trace that a transaction entered the queue by: its deliveries and its finish belong to the same
-- one, no matter who finishes it or when. Earlier transactions have none.
ALTER TABLE queue_transactions ADD COLUMN traceparent bytea;
