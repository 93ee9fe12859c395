-- Charges that buyers dispute at their banks. What the money did is in the transactions; this table
-- tells people what to answer, and by when.

CREATE TABLE processor_disputes (
    -- The processor's id.
    dispute_id text PRIMARY KEY,
    transaction_id bigint NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    -- 0: no money has moved; 1: the bank has it; 2: the store has it again.
    stage integer NOT NULL CONSTRAINT stage_is_known CHECK (stage BETWEEN 0 AND 2),
    -- The processor's names for the state and for the buyer's reason.
    status text NOT NULL,
    reason text,
    opened_at timestamptz NOT NULL,
    -- The time by which the store has to answer.
    answer_by timestamptz,
    changed_at timestamptz NOT NULL
);

CREATE INDEX processor_disputes_by_transaction ON processor_disputes (transaction_id);

GRANT SELECT, INSERT ON processor_disputes TO {role};
GRANT UPDATE (stage, status, reason, answer_by, changed_at) ON processor_disputes TO {role};

-- Disputes in the books of the sandbox's processor, one for each charge at most.
CREATE TABLE sandbox_processor.disputes (
    charge_key uuid PRIMARY KEY,
    amount bigint NOT NULL CHECK (amount > 0),
    currency text NOT NULL,
    status text NOT NULL,
    opened_at timestamptz NOT NULL DEFAULT now(),
    -- When the bank took the money, and when it gave it back. NULL if it did not.
    withdrawn_at timestamptz,
    reinstated_at timestamptz CHECK (reinstated_at IS NULL OR withdrawn_at IS NOT NULL)
);

GRANT SELECT, INSERT ON sandbox_processor.disputes TO {role};
GRANT UPDATE (amount, status, withdrawn_at, reinstated_at) ON sandbox_processor.disputes
    TO {role};

CREATE OR REPLACE VIEW processor_returns AS
    SELECT charge_key AS attempt_id, amount, currency, created_at FROM sandbox_processor.refunds
    UNION ALL
    SELECT refund.charge_key, -reversal.amount, reversal.currency, reversal.created_at
    FROM sandbox_processor.refunds refund
    JOIN sandbox_processor.reversals reversal ON reversal.refund_key = refund.idempotency_key
    UNION ALL
    SELECT charge_key, amount, currency, withdrawn_at FROM sandbox_processor.disputes
    WHERE withdrawn_at IS NOT NULL
    UNION ALL
    SELECT charge_key, -amount, currency, reinstated_at FROM sandbox_processor.disputes
    WHERE reinstated_at IS NOT NULL
    UNION ALL
    SELECT charge.attempt_id,
        CASE WHEN movement.amount < 0 THEN movement.asked_amount ELSE -movement.asked_amount END,
        movement.asked_currency, movement.moved_at
    FROM processor_movements charge
    JOIN processor_movements movement ON movement.payment = charge.payment
    WHERE charge.kind IN ('charge', 'payment') AND movement.kind NOT IN ('charge', 'payment')
        AND movement.asked_amount IS NOT NULL;
