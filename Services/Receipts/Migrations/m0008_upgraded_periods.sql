-- Whether an upgrade has ended the period of the transaction. NULL means no. Later signatures
-- repeat it.
ALTER TABLE signed_transactions ADD COLUMN is_upgraded boolean;

GRANT UPDATE (is_upgraded) ON signed_transactions TO counterfoil_receipts;
