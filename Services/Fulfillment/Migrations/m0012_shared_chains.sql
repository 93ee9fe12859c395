-- The first share of the same subscription, for a period that a family shares. Each share is a row of its
-- own, under its own id in original_transaction_id. NULL for all other entitlements.
ALTER TABLE entitlements ADD COLUMN chain_id bigint;

-- The end of such a row moves with the subscription of the account that pays.
GRANT UPDATE (ends_at) ON entitlements TO counterfoil_fulfillment;
