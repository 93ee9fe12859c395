-- The subscriptions of which a queue has shown a change that no transaction goes with, at the newest version of
-- which that was said. A stream that resumes finds in here what it has missed.
CREATE TABLE queue_subscriptions (
    subscription_id bigint PRIMARY KEY,
    account_id text COLLATE "C" NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    -- As `payments` published it, byte for byte; packed JSON.
    subscription bytea NOT NULL,
    -- The revision of its queue that the change is.
    revision bigint NOT NULL,
    changed_at timestamptz NOT NULL
) WITH (fillfactor = 80);

CREATE INDEX queue_subscriptions_by_account ON queue_subscriptions (account_id, bundle_id);

GRANT SELECT, INSERT ON queue_subscriptions TO counterfoil_fulfillment;
GRANT UPDATE (version, subscription, revision, changed_at) ON queue_subscriptions
    TO counterfoil_fulfillment;
