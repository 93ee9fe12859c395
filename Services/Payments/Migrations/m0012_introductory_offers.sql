-- Introductory offers: an account has one in each group of an app, ever.

-- The transaction with which the offer begins: purchased, or not decided yet. A failed transaction gives
-- the offer back. The row's lock decides which of two payments at once gets it.
ALTER TABLE subscriptions ADD COLUMN introductory_transaction bigint;
GRANT UPDATE (introductory_transaction) ON subscriptions TO {role};
