-- Payment transactions; the attempts to charge them, to refund them and to reverse a refund;
-- ownerships; restores; and the projection of the catalog.

REVOKE CREATE ON SCHEMA public FROM PUBLIC;

CREATE SEQUENCE transaction_ids START WITH 1000001;

CREATE TABLE transactions (
    id bigint PRIMARY KEY,
    original_id bigint NOT NULL,
    reason text NOT NULL
        CONSTRAINT reason_is_known CHECK (reason IN ('purchase', 'restore', 'ownedAgain')),
    version integer NOT NULL CONSTRAINT version_counts_from_one CHECK (version >= 1),
    state text NOT NULL
        CONSTRAINT state_is_known
        CHECK (state IN ('purchasing', 'purchased', 'failed', 'restored', 'deferred')),
    account_id text NOT NULL,
    bundle_id text NOT NULL,
    product_id text NOT NULL,
    product_version integer NOT NULL,
    product_type text NOT NULL,
    quantity integer NOT NULL CONSTRAINT quantity_is_positive CHECK (quantity >= 1),
    storefront text NOT NULL,
    price bigint NOT NULL CONSTRAINT price_is_not_negative CHECK (price >= 0),
    currency text NOT NULL,
    application_username text,
    delivery_plan json NOT NULL,
    requested_at timestamptz NOT NULL,
    purchased_at timestamptz,
    original_purchased_at timestamptz,
    failure_reason text,
    revoked_at timestamptz,
    -- All refunds, ordered by their numbers, as in the events. NULL if there was none.
    refunds json,
    approval text CONSTRAINT approval_is_a_word CHECK (approval IN ('approve', 'decline')),
    tax_basis_points integer NOT NULL DEFAULT 0,
    -- The key of the request that made the transaction. If one restore made several, the first one
    -- has the key.
    idempotency_key text,
    fingerprint bytea,
    finished_at timestamptz,
    CONSTRAINT failed_has_a_reason CHECK ((state = 'failed') = (failure_reason IS NOT NULL)),
    CONSTRAINT purchased_has_a_time
        CHECK ((state IN ('purchased', 'restored')) = (purchased_at IS NOT NULL)),
    CONSTRAINT key_has_a_fingerprint CHECK ((idempotency_key IS NULL) = (fingerprint IS NULL))
)
-- Every row is updated about twice: by its outcome and by its finish. No index contains the updated
-- columns, so free space in the page lets PostgreSQL update them without touching an index.
WITH (fillfactor = 70);

-- A key is used once, for a payment or for a restore that restored something.
CREATE UNIQUE INDEX transactions_key ON transactions (account_id, idempotency_key);

-- The transactions that a restore reads. Only types that can be restored are indexed, so
-- consumables cost nothing here.
CREATE INDEX transactions_restorable ON transactions (account_id, bundle_id)
    WHERE product_type IN ('nonConsumable', 'autoRenewableSubscription');

CREATE TABLE processor_attempts (
    transaction_id bigint NOT NULL,
    kind text NOT NULL
        CONSTRAINT attempt_kind_is_known CHECK (kind IN ('charge', 'refund', 'reversal')),
    -- The number of the attempt among those of its kind. A reversal has the number of the refund
    -- that it reverses.
    number integer NOT NULL CONSTRAINT attempt_number_is_positive CHECK (number > 0),
    attempt_id uuid NOT NULL,
    step text NOT NULL
        CONSTRAINT attempt_step_is_known
        CHECK (step IN ('calling', 'waiting', 'awaiting_approval', 'settled')),
    payment_method text NOT NULL,
    amount bigint NOT NULL CONSTRAINT attempt_moves_money CHECK (amount > 0),
    currency text NOT NULL,
    is_approved boolean NOT NULL,
    call_count integer NOT NULL DEFAULT 0,
    -- The processor's own id of the charge that is refunded, or of the refund that is reversed.
    undoes text,
    revokes boolean NOT NULL,
    -- The request for the refund, if it had a key.
    idempotency_key text,
    fingerprint bytea,
    reference text,
    outcome text,
    lease_owner uuid,
    -- The end of the lease, or the time of the next call, by the machines' clock.
    due_at timestamptz,
    -- The end of the wait for an approval, by the store's clock.
    approval_ends_at timestamptz,
    waits_for bigint,
    PRIMARY KEY (transaction_id, kind, number),
    CONSTRAINT settled_is_not_due CHECK (step <> 'settled' OR due_at IS NULL),
    CONSTRAINT approval_has_an_end
        CHECK ((step = 'awaiting_approval') = (approval_ends_at IS NOT NULL)),
    CONSTRAINT waiting_names_whom CHECK ((step = 'waiting') = (waits_for IS NOT NULL)),
    CONSTRAINT key_has_a_fingerprint CHECK ((idempotency_key IS NULL) = (fingerprint IS NULL))
);

CREATE UNIQUE INDEX processor_attempts_key ON processor_attempts (transaction_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX processor_attempts_due ON processor_attempts (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX processor_attempts_approvals ON processor_attempts (approval_ends_at)
    WHERE approval_ends_at IS NOT NULL;
CREATE INDEX processor_attempts_waiting ON processor_attempts (waits_for)
    WHERE waits_for IS NOT NULL;

-- Which transaction owns a non-consumable, or is being charged for it. Two simultaneous purchases
-- lock the same row, so only one of them is charged. Without a transaction, nobody owns the product
-- and nobody is buying it.
CREATE TABLE ownerships (
    account_id text NOT NULL,
    bundle_id text NOT NULL,
    product_id text NOT NULL,
    transaction_id bigint,
    owned_at timestamptz,
    PRIMARY KEY (account_id, bundle_id, product_id),
    CONSTRAINT owned_by_a_transaction CHECK (owned_at IS NULL OR transaction_id IS NOT NULL)
);

-- The transactions that each restore made; there may be none.
CREATE TABLE restores (
    account_id text NOT NULL,
    idempotency_key text NOT NULL,
    fingerprint bytea NOT NULL,
    transaction_ids bigint[] NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, idempotency_key)
);

-- Requests for a refund that had a key and made no attempt: nothing was left to refund, or another
-- request had already asked for the rest. If such a request is repeated, perhaps after a reversal,
-- it must not refund anything.
CREATE TABLE refund_keys (
    transaction_id bigint NOT NULL,
    idempotency_key text NOT NULL,
    fingerprint bytea NOT NULL,
    -- The refund that was accepted and not confirmed yet; NULL if the request was done at once.
    refund_number integer,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (transaction_id, idempotency_key)
);

-- The catalog's products, from its events.
CREATE TABLE products (
    id text PRIMARY KEY,
    version integer NOT NULL,
    is_restorable boolean NOT NULL,
    data json NOT NULL
);

GRANT USAGE ON SEQUENCE transaction_ids TO {role};
GRANT SELECT, INSERT ON transactions TO {role};
GRANT UPDATE (
    original_id, reason, version, state, price, purchased_at, original_purchased_at, failure_reason,
    revoked_at, refunds, approval, finished_at
) ON transactions TO {role};
GRANT SELECT, INSERT ON processor_attempts TO {role};
GRANT UPDATE (
    step, is_approved, call_count, reference, outcome, lease_owner, due_at, approval_ends_at,
    waits_for
) ON processor_attempts TO {role};
GRANT SELECT, INSERT ON ownerships TO {role};
GRANT UPDATE (transaction_id, owned_at) ON ownerships TO {role};
GRANT SELECT, INSERT ON restores TO {role};
GRANT SELECT, INSERT ON refund_keys TO {role};
GRANT SELECT, INSERT ON products TO {role};
GRANT UPDATE (version, is_restorable, data) ON products TO {role};
