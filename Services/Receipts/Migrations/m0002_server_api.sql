-- The tables of the App Store Server API: histories in pages, app transactions, and the account
-- tokens that merchants' servers set.

-- One row for each account in each app. A database transaction that adds or changes receipts of an
-- account locks this row until commit, and draws their positions meanwhile. So the positions of an
-- account rise in commit order, and no page of a history skips a change. The row itself is not
-- written.
CREATE TABLE app_transactions (
    account_id         text COLLATE "C" NOT NULL,
    bundle_id          text COLLATE "C" NOT NULL,
    -- 18 digits. No transaction has such an id.
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
-- The later transactions of a purchase, ordered by id, so that they can be signed again in batches:
-- its copies, and every other transaction that names it as its original.
CREATE INDEX signed_transactions_of_original
    ON signed_transactions (original_transaction_id, transaction_id)
    WHERE transaction_id <> original_transaction_id;

-- Account tokens that a merchant's server has set. They replace those from the app.
CREATE TABLE app_account_tokens (
    original_transaction_id bigint NOT NULL,
    app_account_token       text NOT NULL,
    set_at                  timestamptz NOT NULL,
    CONSTRAINT a_purchase_has_one_account_token PRIMARY KEY (original_transaction_id)
);

GRANT SELECT, INSERT ON app_transactions, app_account_tokens TO counterfoil_receipts;
-- Locking a row requires the right to update a column. The service updates none.
GRANT UPDATE (first_seen_at) ON app_transactions TO counterfoil_receipts;
GRANT USAGE ON SEQUENCE history_positions TO counterfoil_receipts;
GRANT UPDATE (app_account_token, set_at) ON app_account_tokens TO counterfoil_receipts;
