-- What the App Store Server API needs: histories in pages, app transactions, and the account tokens
-- that merchants' servers set.

-- One row for each account in each app. A database transaction that adds or changes receipts of an
-- account locks its row lock until commit, and draws their positions meanwhile. So positions of an
-- account rise in commit order, and no page of a history passes over a change. The row itself is
-- not written.
CREATE TABLE app_transactions (
    account_id         text COLLATE "C" NOT NULL,
    bundle_id          text COLLATE "C" NOT NULL,
    -- 18 digits, and no transaction's: those begin with 1000001.
    app_transaction_id bigint GENERATED ALWAYS AS IDENTITY (START WITH 700000000000000001),
    first_seen_at      timestamptz NOT NULL,
    CONSTRAINT an_account_has_one_app_transaction_in_an_app PRIMARY KEY (account_id, bundle_id),
    CONSTRAINT an_app_transaction_is_of_one_account UNIQUE (app_transaction_id)
);

CREATE SEQUENCE history_positions;

-- The receipts of an account, for its app receipt and for pages of its history.
CREATE INDEX signed_transactions_by_history
    ON signed_transactions (app_transaction_id, history_position);
CREATE INDEX signed_transactions_refunded
    ON signed_transactions (app_transaction_id, history_position)
    WHERE standing_refunds IS NOT NULL;
-- The later transactions of a purchase in the order of their numbers, so that they can be signed
-- anew in batches: its copies, and whatever else names it as its first.
CREATE INDEX signed_transactions_of_original
    ON signed_transactions (original_transaction_id, transaction_id)
    WHERE transaction_id <> original_transaction_id;

-- Account tokens that a merchant's server has set; they replace those that the app gave.
CREATE TABLE app_account_tokens (
    original_transaction_id bigint NOT NULL,
    app_account_token       text NOT NULL,
    set_at                  timestamptz NOT NULL,
    CONSTRAINT a_purchase_has_one_account_token PRIMARY KEY (original_transaction_id)
);

GRANT SELECT, INSERT ON app_transactions, app_account_tokens TO counterfoil_receipts;
-- A row lock needs the right to update a column. The service updates none.
GRANT UPDATE (first_seen_at) ON app_transactions TO counterfoil_receipts;
GRANT USAGE ON SEQUENCE history_positions TO counterfoil_receipts;
GRANT UPDATE (app_account_token, set_at) ON app_account_tokens TO counterfoil_receipts;
