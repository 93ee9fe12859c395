-- What an account has and nobody took away, what ends first in front and what never ends behind. The
-- page of an account reads what has not ended, however much has.
CREATE INDEX entitlements_in_force
    ON entitlements (account_id, ends_at, bundle_id, product_id, original_transaction_id)
    WHERE revoked_at IS NULL;
