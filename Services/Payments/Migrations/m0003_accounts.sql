-- Facts about accounts other than their purchases: whether they may pay, where they buy, which
-- purchases they began outside the app, and which price increases they were asked about.

-- One row for each account in each app about which something was ever set. Every change of the
-- account locks this row first, also changes of the two tables below.
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

-- One row for each price that an account was asked about. A later price is a row of its own, which
-- replaces the earlier one.
CREATE TABLE price_consents (
    id text PRIMARY KEY,
    account_id text NOT NULL,
    bundle_id text NOT NULL,
    product_id text NOT NULL,
    price bigint NOT NULL CONSTRAINT asked_price_is_not_negative CHECK (price >= 0),
    currency text NOT NULL,
    asked_at timestamptz NOT NULL,
    status text NOT NULL
        CONSTRAINT consent_status_is_known CHECK (status IN ('pending', 'agreed', 'declined')),
    decided_at timestamptz,
    replaced_at timestamptz,
    CONSTRAINT a_word_has_a_time CHECK ((status = 'pending') = (decided_at IS NULL))
);

CREATE UNIQUE INDEX price_consents_newest ON price_consents (account_id, bundle_id, product_id)
    WHERE replaced_at IS NULL;

GRANT SELECT, INSERT ON accounts, purchase_intents, price_consents TO {role};
GRANT UPDATE (version, can_make_payments, storefront) ON accounts TO {role};
GRANT UPDATE (ended_at, transaction_id) ON purchase_intents TO {role};
GRANT UPDATE (status, decided_at, replaced_at) ON price_consents TO {role};
