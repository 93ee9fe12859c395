-- The account itself, which its queue shows beside the transactions. One row for each account in
-- each app that `payments` has published, at the newest version.
CREATE TABLE queue_accounts (
    account_id text COLLATE "C" NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    -- The account as `payments` published it, byte for byte; packed JSON.
    account bytea NOT NULL,
    -- The revision that the queue had after the last change of the account.
    revision bigint NOT NULL,
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, bundle_id)
) WITH (fillfactor = 80);

GRANT SELECT, INSERT ON queue_accounts TO counterfoil_fulfillment;
GRANT UPDATE (version, account, revision, changed_at) ON queue_accounts TO counterfoil_fulfillment;
