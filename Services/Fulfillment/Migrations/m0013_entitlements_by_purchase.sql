-- What an account owns in an app, in the order of the purchases. A page of it reads no more for an
-- account with a million purchases than for one with a hundred.
CREATE INDEX entitlements_by_purchase
    ON entitlements (account_id, bundle_id, original_transaction_id);
