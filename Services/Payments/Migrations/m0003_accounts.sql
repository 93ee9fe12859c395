-- Facts about accounts other than their purchases: whether they may pay, where they buy, and which
-- purchases they began outside the app.

-- One row for each account in each app about which something was ever set. Every change of the
-- account locks this row first, also changes of the table below.
CREATE TABLE accounts (
    account_id text NOT NULL,
    bundle_id text NOT NULL,
    version integer NOT NULL DEFAULT 0
        CONSTRAINT account_version_counts_from_zero CHECK (version >= 0),
    can_make_payments boolean NOT NULL DEFAULT true,
    -- NULL if nobody has set a storefront.
    storefront text,
    PRIMARY KEY (account_id, bundle_id)
);

CREATE TABLE purchase_intents (
    id text PRIMARY KEY,
    account_id text NOT NULL,
    bundle_id text NOT NULL,
    product_id text NOT NULL,
    quantity integer NOT NULL CONSTRAINT intended_quantity_is_positive CHECK (quantity >= 1),
    created_at timestamptz NOT NULL,
    idempotency_key text,
    -- NULL while the intent waits for the app.
    ended_at timestamptz,
    -- The transaction that pays for it. NULL in an intent that has ended means that it was
    -- declined.
    transaction_id bigint CONSTRAINT a_payment_pays_one_intent UNIQUE,
    CONSTRAINT a_paid_intent_has_ended CHECK (transaction_id IS NULL OR ended_at IS NOT NULL),
    CONSTRAINT an_intent_is_begun_once UNIQUE (account_id, bundle_id, idempotency_key)
);

CREATE INDEX purchase_intents_open ON purchase_intents (account_id, bundle_id)
    WHERE ended_at IS NULL;

GRANT SELECT, INSERT ON accounts, purchase_intents TO {role};
GRANT UPDATE (version, can_make_payments, storefront) ON accounts TO {role};
GRANT UPDATE (ended_at, transaction_id) ON purchase_intents TO {role};
