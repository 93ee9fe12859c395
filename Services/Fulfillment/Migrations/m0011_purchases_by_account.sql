-- The transactions of an account, finished or not, the newest first. A page of them reads no more for
-- an account with a million transactions than for one with a hundred.
-- The numbers are negative so that no other index has this order. In the order of the primary key,
-- PostgreSQL would read through the newer transactions of all other accounts.
CREATE INDEX queue_transactions_by_account ON queue_transactions (account_id, (-transaction_id));
