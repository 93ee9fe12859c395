-- The receipts of one account in one app, for the app receipt.

CREATE INDEX signed_transactions_by_account
    ON signed_transactions (account_id, bundle_id, transaction_id);
