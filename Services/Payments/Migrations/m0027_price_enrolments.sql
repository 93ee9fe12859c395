-- Higher prices that the catalog has scheduled for subscribers, and how many of these know of them.

CREATE TABLE price_enrolments (
    product_id text NOT NULL,
    storefront text NOT NULL,
    price bigint NOT NULL CONSTRAINT price_enrolment_is_not_negative CHECK (price >= 0),
    currency text NOT NULL,
    -- The time from which on renewals cost the price, by the store's clock.
    effective_at timestamptz NOT NULL,
    -- The catalog has taken the change back, so increases that were not charged yet end.
    is_withdrawn boolean NOT NULL DEFAULT false,
    -- The time at which the catalog decided it, by the store's clock.
    begun_at timestamptz NOT NULL,
    -- The last subscription that was looked at; they are looked at in the order of their ids.
    reached_id bigint NOT NULL DEFAULT 0,
    is_finished boolean NOT NULL DEFAULT false,
    -- The subscriptions before that one which could not be told, because a row is broken. They are
    -- tried again, and the enrolment is open until all are told.
    left_ids bigint[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (product_id, storefront)
);

CREATE INDEX price_enrolments_open ON price_enrolments (begun_at, product_id, storefront)
    WHERE NOT is_finished;

GRANT SELECT, INSERT, UPDATE ON price_enrolments TO {role};
