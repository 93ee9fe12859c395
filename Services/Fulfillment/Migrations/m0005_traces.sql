-- The trace that a transaction entered the queue by: its deliveries and its finish belong to the same
-- one, whoever finishes it and when. Transactions of before have none.
ALTER TABLE queue_transactions ADD COLUMN traceparent text;
