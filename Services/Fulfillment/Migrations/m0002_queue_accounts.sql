-- The account itself, as its queue shows it beside transactions: one row for each account in each
-- app of which `payments` has said anything, at the newest version.
CREATE TABLE queue_accounts (
    account_id text COLLATE "C" NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    -- As `payments` published it, byte for byte; packed JSON.
    account bytea NOT NULL,
    -- The revision of its queue that its last change is.
    revision bigint NOT NULL,
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, bundle_id)
) WITH (fillfactor = 80);

GRANT SELECT, INSERT ON queue_accounts TO counterfoil_fulfillment;
GRANT UPDATE (version, account, revision, changed_at) ON queue_accounts TO counterfoil_fulfillment;
