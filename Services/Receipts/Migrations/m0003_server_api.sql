-- What the App Store Server API needs: histories in pages, app transactions, and the account tokens
-- that merchants' servers set.

-- One row for each account in each app. `history_position` counts the changes of its transactions;
-- its row lock, held until commit, makes positions rise in commit order.
CREATE TABLE app_transactions (
    account_id         text COLLATE "C" NOT NULL,
    bundle_id          text COLLATE "C" NOT NULL,
    -- 18 digits, and no transaction's: those begin with 1000001.
    app_transaction_id bigint GENERATED ALWAYS AS IDENTITY (START WITH 700000000000000001),
    first_seen_at      timestamptz NOT NULL,
    history_position   bigint NOT NULL DEFAULT 0,
    CONSTRAINT an_account_has_one_app_transaction_in_an_app PRIMARY KEY (account_id, bundle_id),
    CONSTRAINT an_app_transaction_is_of_one_account UNIQUE (app_transaction_id)
) WITH (fillfactor = 70);

-- Where each transaction stands in its account's history: behind everything that changed before it
-- changed last.
ALTER TABLE signed_transactions ADD COLUMN history_position bigint;

UPDATE signed_transactions AS receipt SET history_position = numbered.position
FROM (
    SELECT transaction_id, row_number() OVER (
        PARTITION BY account_id, bundle_id ORDER BY signed_at, transaction_id
    ) AS position
    FROM signed_transactions
) AS numbered
WHERE numbered.transaction_id = receipt.transaction_id;

INSERT INTO app_transactions (account_id, bundle_id, first_seen_at, history_position)
SELECT account_id, bundle_id, min(purchased_at), max(history_position)
FROM signed_transactions GROUP BY account_id, bundle_id;

ALTER TABLE signed_transactions ALTER COLUMN history_position SET NOT NULL;

CREATE INDEX signed_transactions_by_history
    ON signed_transactions (account_id, bundle_id, history_position);
CREATE INDEX signed_transactions_refunded
    ON signed_transactions (account_id, bundle_id, history_position)
    WHERE standing_refunds IS NOT NULL;
-- The later transactions of a purchase in the order of their numbers, so that they can be signed
-- anew in batches: its copies, and whatever else names it as its first.
CREATE INDEX signed_transactions_of_original
    ON signed_transactions (original_transaction_id, transaction_id)
    WHERE transaction_id <> original_transaction_id;

-- Account tokens that a merchant's server has set; they take the place of what the app gave.
CREATE TABLE app_account_tokens (
    original_transaction_id bigint NOT NULL,
    app_account_token       text NOT NULL,
    set_at                  timestamptz NOT NULL,
    CONSTRAINT a_purchase_has_one_account_token PRIMARY KEY (original_transaction_id)
);

GRANT SELECT, INSERT ON app_transactions, app_account_tokens TO counterfoil_receipts;
GRANT UPDATE (history_position) ON app_transactions, signed_transactions TO counterfoil_receipts;
GRANT UPDATE (app_account_token, set_at) ON app_account_tokens TO counterfoil_receipts;
