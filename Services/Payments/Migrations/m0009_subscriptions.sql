-- Subscriptions, which renew: what every transaction of theirs pays for, and when each one has to be
-- charged or ended.

-- The period that a transaction pays for, as in its events; NULL for every other product.
ALTER TABLE transactions ADD COLUMN subscription json;
ALTER TABLE transactions DROP CONSTRAINT reason_is_known;
ALTER TABLE transactions ADD CONSTRAINT reason_is_known
    CHECK (reason IN ('purchase', 'renewal', 'restore', 'ownedAgain'));
GRANT UPDATE (subscription) ON transactions TO {role};

-- Each try to charge for a next period has one transaction, whatever is killed.
CREATE UNIQUE INDEX a_renewal_is_tried_once ON transactions ((subscription ->> 'charge'))
    WHERE subscription ->> 'charge' IS NOT NULL;

-- Which try to charge for a next period it is, 0 for a purchase of a subscription; NULL for all other
-- products.
ALTER TABLE processor_attempts ADD COLUMN renewal_try integer;
-- A refund that a change of a subscription has booked.
ALTER TABLE processor_attempts ADD COLUMN is_owed boolean NOT NULL DEFAULT false;

-- One row for each account in each group of an app, whose lock everything takes that changes the
-- subscription. It is made when the first payment is accepted, and stays for ever.
CREATE TABLE subscriptions (
    account_id text NOT NULL,
    bundle_id text NOT NULL,
    group_id text NOT NULL,
    -- The first transaction. NULL, as all that follows: nothing was paid yet.
    id bigint CONSTRAINT a_subscription_has_one_place UNIQUE,
    version integer CONSTRAINT subscription_version_counts_from_one CHECK (version >= 1),
    state text,
    -- The whole subscription, as in its events.
    data json,
    payment_method text,
    -- Its only due action: when, by the store's clock, and its rank among those of one time.
    due_at timestamptz,
    due_kind integer,
    -- When a charge was begun whose outcome is not known.
    charging_since timestamptz,
    -- How often the next period was tried to charge.
    tries integer,
    PRIMARY KEY (account_id, bundle_id, group_id),
    CONSTRAINT a_subscription_is_whole
        CHECK (num_nulls(id, version, state, data, tries) IN (0, 5)),
    CONSTRAINT a_due_action_has_a_kind CHECK ((due_at IS NULL) = (due_kind IS NULL))
);

CREATE INDEX subscriptions_due ON subscriptions (due_at, due_kind, id) WHERE due_at IS NOT NULL;
CREATE INDEX subscriptions_charging ON subscriptions (charging_since)
    WHERE charging_since IS NOT NULL;
-- Those that are not paid, for the metrics. Few are, so this index costs a renewal nothing.
CREATE INDEX subscriptions_unpaid ON subscriptions (state)
    WHERE state IN ('inGracePeriod', 'inBillingRetryPeriod');

GRANT SELECT, INSERT ON subscriptions TO {role};
GRANT UPDATE (
    id, version, state, data, payment_method, due_at, due_kind, charging_since, tries
) ON subscriptions TO {role};
