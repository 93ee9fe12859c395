-- The queues as clients see them, the deliveries, and the entitlements and credits of accounts.
-- Texts are compared byte by byte: identifiers are ASCII, and locks are taken in this order.

-- One row for each account in each app. `revision` counts the changes of its transactions. The row
-- stays locked until commit, so revisions rise without gaps and in commit order.
CREATE TABLE queues (
    account_id text COLLATE "C" NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, bundle_id)
) WITH (fillfactor = 70);

CREATE TABLE queue_transactions (
    transaction_id bigint PRIMARY KEY,
    account_id text COLLATE "C" NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    state text NOT NULL,
    revoked_at timestamptz,
    -- The transaction as `payments` published it, byte for byte; packed JSON.
    transaction bytea NOT NULL,
    is_delivered boolean NOT NULL,
    finished_at timestamptz,
    -- The revision that the queue had after the last change of this transaction.
    revision bigint NOT NULL,
    changed_at timestamptz NOT NULL
) WITH (fillfactor = 80);

-- One index for unfinished transactions, and one for finished ones. Each row is in one of them.
CREATE INDEX queue_transactions_unfinished
    ON queue_transactions (account_id, bundle_id, revision) WHERE finished_at IS NULL;
CREATE INDEX queue_transactions_finished
    ON queue_transactions (account_id, bundle_id, revision) WHERE finished_at IS NOT NULL;

-- One row for each webhook of a paid transaction, and for each webhook that reports a refund of it.
-- Entitlements and credits are granted together with the change. The target `app` is confirmed by
-- the finish. Neither has a row here.
CREATE TABLE deliveries (
    transaction_id bigint NOT NULL,
    -- The place in the delivery plan and the kind: "1:webhook". For the first refund it is
    -- "1:refund:1", and for the reversal of that refund "1:refund:1:reversed".
    target text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    url text,
    host text,
    state text NOT NULL,
    -- The version of the transaction that caused the call. A webhook of the plan gets its calls one
    -- at a time.
    version integer NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    -- The time at which the call is due; NULL while it waits for earlier calls. A sender that takes
    -- the call moves this time beyond its own timeout. So a call is due again if a crash prevents
    -- the sender from recording the result.
    next_attempt_at timestamptz,
    last_attempt_at timestamptz,
    last_result text,
    delivered_at timestamptz,
    PRIMARY KEY (transaction_id, target),
    CONSTRAINT deliveries_are_pending_delivered_or_void
        CHECK (state IN ('pending', 'delivered', 'void')),
    CONSTRAINT webhooks_have_an_address CHECK ((kind = 'webhook') = (url IS NOT NULL)),
    CONSTRAINT delivered_ones_say_when CHECK ((state = 'delivered') = (delivered_at IS NOT NULL))
) WITH (fillfactor = 80);

CREATE INDEX deliveries_due
    ON deliveries (next_attempt_at) WHERE state = 'pending' AND kind = 'webhook';

CREATE TABLE entitlements (
    account_id text COLLATE "C" NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    product_id text COLLATE "C" NOT NULL,
    original_transaction_id bigint NOT NULL,
    granted_at timestamptz NOT NULL,
    -- Cleared when the refund is reversed. A copy that arrives after the refund does not clear it.
    revoked_at timestamptz,
    PRIMARY KEY (account_id, bundle_id, product_id, original_transaction_id)
);

-- Append-only: a balance is the sum of its entries. A refund and its reversal are entries of their
-- own. The unique constraint makes a consumable grant its credits once, no matter how often its
-- purchase is delivered.
CREATE TABLE credit_entries (
    transaction_id bigint NOT NULL,
    account_id text COLLATE "C" NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    unit text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    -- For a grant, how many reversals came before it, 0 for the purchase itself. For a revocation,
    -- which one it is, from 1.
    number integer NOT NULL,
    amount bigint NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT credits_change_once PRIMARY KEY (transaction_id, unit, kind, number),
    CONSTRAINT entries_grant_or_revoke CHECK (kind IN ('grant', 'revoke'))
);

CREATE INDEX credit_entries_by_account ON credit_entries (account_id, bundle_id, unit);

GRANT SELECT, INSERT ON queues, queue_transactions, deliveries, entitlements, credit_entries
    TO counterfoil_fulfillment;
GRANT UPDATE (revision) ON queues TO counterfoil_fulfillment;
GRANT UPDATE (version, state, revoked_at, transaction, is_delivered, finished_at, revision, changed_at)
    ON queue_transactions TO counterfoil_fulfillment;
GRANT UPDATE (state, attempts, next_attempt_at, last_attempt_at, last_result, delivered_at)
    ON deliveries TO counterfoil_fulfillment;
GRANT UPDATE (revoked_at) ON entitlements TO counterfoil_fulfillment;
