-- The sandbox processor's own books. The processor stands for another company: nothing in `public`
-- refers to these tables, and they survive every crash of `payments`.

CREATE SCHEMA sandbox_processor;

CREATE TABLE sandbox_processor.charges (
    idempotency_key uuid PRIMARY KEY,
    payment_method text NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    currency text NOT NULL,
    -- Why the charge was declined; NULL if it was made.
    decline_reason text,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE sandbox_processor.refunds (
    idempotency_key uuid PRIMARY KEY,
    charge_key uuid NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    currency text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- The refunds of a charge that were not reversed never exceed it. SandboxStore locks the charge and
-- checks this before it writes.
CREATE INDEX refunds_of_a_charge ON sandbox_processor.refunds (charge_key);

-- Refunds that were reversed.
CREATE TABLE sandbox_processor.reversals (
    idempotency_key uuid PRIMARY KEY,
    refund_key uuid NOT NULL CONSTRAINT reversed_once UNIQUE,
    amount bigint NOT NULL CHECK (amount > 0),
    currency text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- How often a flaky payment method was called.
CREATE TABLE sandbox_processor.calls (
    idempotency_key uuid PRIMARY KEY,
    call_count integer NOT NULL
);

GRANT USAGE ON SCHEMA sandbox_processor TO {role};
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA sandbox_processor TO {role};
GRANT UPDATE (call_count) ON sandbox_processor.calls TO {role};
