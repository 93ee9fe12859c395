-- Subscriptions that renew: which period each of their transactions pays for, and when the next
-- charge or the end is due.

-- The period that the transaction pays for, as in its events. NULL for every other product.
ALTER TABLE transactions ADD COLUMN subscription json;
ALTER TABLE transactions DROP CONSTRAINT reason_is_known;
ALTER TABLE transactions ADD CONSTRAINT reason_is_known
    CHECK (reason IN ('purchase', 'renewal', 'restore', 'ownedAgain'));
GRANT UPDATE (subscription) ON transactions TO {role};

-- Each try to charge for the next period makes one transaction, no matter what is killed.
CREATE UNIQUE INDEX a_renewal_is_tried_once ON transactions ((subscription ->> 'charge'))
    WHERE subscription ->> 'charge' IS NOT NULL;

-- The number of the try to charge for the next period; 0 for a purchase of a subscription. NULL for
-- all other products.
ALTER TABLE processor_attempts ADD COLUMN renewal_try integer;
-- Whether a change of a subscription has made this refund.
ALTER TABLE processor_attempts ADD COLUMN is_owed boolean NOT NULL DEFAULT false;

-- One row for each account in each group of an app. Everything that changes the subscription locks
-- it. The row is made when the first payment is accepted, and is never deleted.
CREATE TABLE subscriptions (
    account_id text NOT NULL,
    bundle_id text NOT NULL,
    group_id text NOT NULL,
    -- The first transaction. NULL, like the four other columns of the subscription, until something
    -- is paid.
    id bigint CONSTRAINT a_subscription_has_one_place UNIQUE,
    version integer CONSTRAINT subscription_version_counts_from_one CHECK (version >= 1),
    state text,
    -- The whole subscription, as in its events.
    data json,
    payment_method text,
    -- The only due action: its time, by the store's clock, and its rank among actions of the same
    -- time.
    due_at timestamptz,
    due_kind integer,
    -- The time at which a charge was begun whose outcome is still unknown.
    charging_since timestamptz,
    -- The number of tries to charge for the next period.
    tries integer,
    PRIMARY KEY (account_id, bundle_id, group_id),
    CONSTRAINT a_subscription_is_whole
        CHECK (num_nulls(id, version, state, data, tries) IN (0, 5)),
    CONSTRAINT a_due_action_has_a_kind CHECK ((due_at IS NULL) = (due_kind IS NULL))
);

CREATE INDEX subscriptions_due ON subscriptions (due_at, due_kind, id) WHERE due_at IS NOT NULL;
CREATE INDEX subscriptions_charging ON subscriptions (charging_since)
    WHERE charging_since IS NOT NULL;
-- Subscriptions that are not paid, for the metrics. There are few, so this index costs a renewal
-- nothing.
CREATE INDEX subscriptions_unpaid ON subscriptions (state)
    WHERE state IN ('inGracePeriod', 'inBillingRetryPeriod');

GRANT SELECT, INSERT ON subscriptions TO {role};
GRANT UPDATE (
    id, version, state, data, payment_method, due_at, due_kind, charging_since, tries
) ON subscriptions TO {role};
