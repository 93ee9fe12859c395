-- The transactions of an account, finished or not, the newest first. A page of them reads no more for
-- an account with a million transactions than for one with a hundred.
CREATE INDEX queue_transactions_by_account ON queue_transactions (account_id, transaction_id);
