-- The periods of subscriptions that a family shares with an account, for the statuses that it has.
CREATE INDEX signed_transactions_shared ON signed_transactions (app_transaction_id, transaction_id)
    WHERE reason = 'familyShared' AND product_type = 'autoRenewableSubscription';
