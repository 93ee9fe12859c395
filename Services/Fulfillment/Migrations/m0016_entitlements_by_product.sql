-- What an account has of each product and nobody took away, what never ends in front and then what ends
-- last. What the account may use by name is read from the first row of each product, however many times
-- it was bought.
CREATE INDEX entitlements_by_product
    ON entitlements (
        account_id, bundle_id, product_id, ends_at DESC NULLS FIRST, original_transaction_id)
    WHERE revoked_at IS NULL;
