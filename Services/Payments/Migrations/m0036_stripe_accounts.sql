-- The account at Stripe to which each row belongs, by the store's own name of it. A store with one account
-- has only `default`.

ALTER TABLE processor_customers ADD COLUMN processor_account text NOT NULL DEFAULT 'default';
ALTER TABLE payment_methods ADD COLUMN processor_account text NOT NULL DEFAULT 'default';

-- An account of the store is another buyer at each account at Stripe. A card is saved at one of them, and
-- can be charged only there.
ALTER TABLE payment_methods DROP CONSTRAINT payment_methods_account_id_bundle_id_fkey;
ALTER TABLE processor_customers DROP CONSTRAINT processor_customers_pkey;
ALTER TABLE processor_customers ADD PRIMARY KEY (account_id, bundle_id, processor_account);
ALTER TABLE payment_methods ADD FOREIGN KEY (account_id, bundle_id, processor_account)
    REFERENCES processor_customers;

-- Each account at Stripe has its own list of events.
ALTER TABLE processor_events ADD COLUMN processor_account text NOT NULL DEFAULT 'default';
ALTER TABLE processor_events DROP CONSTRAINT processor_events_pkey;
ALTER TABLE processor_events ADD PRIMARY KEY (processor_account, event_id);
DROP INDEX processor_events_due;
CREATE INDEX processor_events_due ON processor_events (processor_account, due_at)
    WHERE due_at IS NOT NULL;

-- The places in the lists, one row for each account at Stripe.
ALTER TABLE processor_event_places ADD COLUMN processor_account text NOT NULL DEFAULT 'default';
ALTER TABLE processor_event_places DROP COLUMN one;
ALTER TABLE processor_event_places ADD PRIMARY KEY (processor_account);
ALTER TABLE processor_movement_places
    ADD COLUMN processor_account text NOT NULL DEFAULT 'default';
ALTER TABLE processor_movement_places DROP COLUMN one;
ALTER TABLE processor_movement_places ADD PRIMARY KEY (processor_account);

-- The primary key of a movement stays the processor's id alone. So a movement is posted once, even if two
-- of the store's names mean the same account.
ALTER TABLE processor_movements ADD COLUMN processor_account text NOT NULL DEFAULT 'default';

ALTER TABLE processor_balances ADD COLUMN processor_account text NOT NULL DEFAULT 'default';
ALTER TABLE processor_balances DROP CONSTRAINT processor_balances_pkey;
ALTER TABLE processor_balances ADD PRIMARY KEY (processor_account, currency);

-- The account of a charge, by which a person finds it. The sandbox's own books have no other.
CREATE OR REPLACE VIEW processor_charges AS
    SELECT idempotency_key AS attempt_id, idempotency_key::text AS reference, amount, currency,
        created_at, 'default' AS processor_account
    FROM sandbox_processor.charges WHERE decline_reason IS NULL
    UNION ALL
    SELECT attempt_id, coalesce(payment, source, movement_id), coalesce(asked_amount, 0),
        coalesce(asked_currency, upper(currency)), moved_at, processor_account
    FROM processor_movements WHERE kind IN ('charge', 'payment');
