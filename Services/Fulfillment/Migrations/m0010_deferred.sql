-- The transactions that wait for an approval, the oldest first. There are few at any time, and all
-- others cost this index nothing.
CREATE INDEX queue_transactions_deferred ON queue_transactions (changed_at, transaction_id)
    WHERE state = 'deferred';
