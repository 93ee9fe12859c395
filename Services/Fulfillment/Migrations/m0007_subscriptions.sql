-- Subscriptions at their newest versions, as `payments` publishes them. Entitlements to products
-- that renew end by these times, even if no event arrives in time.
CREATE TABLE subscriptions (
    id bigint PRIMARY KEY,
    account_id text COLLATE "C" NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    -- The newest period: when it begins, and until when the account has the service.
    transaction_id bigint NOT NULL,
    starts_at timestamptz NOT NULL,
    ends_at timestamptz,
    -- The period before it, which counts until the newest one begins.
    earlier_transaction_id bigint,
    earlier_ends_at timestamptz,
    -- The whole subscription, as in its event.
    data json NOT NULL
);

CREATE INDEX subscriptions_by_account ON subscriptions (account_id, bundle_id);

-- The end of the first period. It counts until the subscription itself has arrived. NULL for all
-- other products.
ALTER TABLE entitlements ADD COLUMN ends_at timestamptz;

GRANT SELECT, INSERT ON subscriptions TO counterfoil_fulfillment;
GRANT UPDATE (
    version, transaction_id, starts_at, ends_at, earlier_transaction_id, earlier_ends_at, data
) ON subscriptions TO counterfoil_fulfillment;
