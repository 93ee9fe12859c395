-- Whether an upgrade has ended the period of a transaction; NULL for no. A later signature says so again.
ALTER TABLE signed_transactions ADD COLUMN is_upgraded boolean;

GRANT UPDATE (is_upgraded) ON signed_transactions TO counterfoil_receipts;
