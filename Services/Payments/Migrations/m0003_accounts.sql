-- What is known of accounts beside what they bought: whether they may pay, where they buy, the
-- purchases they began outside the app, and the price increases they were asked about.

-- One row for each account in each app of which anything was ever said; its lock is taken before
-- anything of the account is changed, here or in the two tables below.
CREATE TABLE accounts (
    account_id text NOT NULL,
    bundle_id text NOT NULL,
    version integer NOT NULL DEFAULT 0
        CONSTRAINT account_version_counts_from_zero CHECK (version >= 0),
    can_make_payments boolean NOT NULL DEFAULT true,
    -- NULL: nobody has set one.
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
    -- NULL: it waits for the app.
    ended_at timestamptz,
    -- What pays it; NULL in one that has ended: it was declined.
    transaction_id bigint CONSTRAINT a_payment_pays_one_intent UNIQUE,
    CONSTRAINT a_paid_intent_has_ended CHECK (transaction_id IS NULL OR ended_at IS NOT NULL),
    CONSTRAINT an_intent_is_begun_once UNIQUE (account_id, bundle_id, idempotency_key)
);

CREATE INDEX purchase_intents_open ON purchase_intents (account_id, bundle_id)
    WHERE ended_at IS NULL;

-- A row for each price that an account was asked about; another price replaces it by another row.
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
