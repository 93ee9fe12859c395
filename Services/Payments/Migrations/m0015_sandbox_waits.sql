-- Calls that the sandbox's processor has taken and not decided yet. They get a row in `charges` or
-- `refunds` once they are decided, which counts from then on.

CREATE TABLE sandbox_processor.open_charges (
    idempotency_key uuid PRIMARY KEY,
    payment_method text NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    currency text NOT NULL,
    -- The time at which the charge is made; NULL if the buyer has to act.
    decided_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE sandbox_processor.open_refunds (
    idempotency_key uuid PRIMARY KEY,
    charge_key uuid NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    currency text NOT NULL,
    -- The time at which the refund is made.
    decided_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

GRANT SELECT, INSERT ON sandbox_processor.open_charges, sandbox_processor.open_refunds TO {role};
