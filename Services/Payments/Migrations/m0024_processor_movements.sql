-- What moved at the payment processor, by its own list: charges, refunds, disputes, fees, payouts.
-- `counterfoil reconcile` compares it with the store's books.

CREATE TABLE processor_movements (
    -- The processor's id.
    movement_id text PRIMARY KEY,
    -- The number of its posting in the ledger.
    number integer NOT NULL GENERATED ALWAYS AS IDENTITY CONSTRAINT a_number_is_one_movement UNIQUE,
    -- The processor's name for the kind, such as `charge` or `payout`.
    kind text NOT NULL,
    -- The processor's ids of what caused it, and of the payment that it belongs to. NULL if there is
    -- none.
    source text,
    payment text,
    -- The attempt that is named in the texts of a charge or a refund. NULL if none is.
    attempt_id uuid,
    -- The amount before the fee, and the fee, in the processor's unit of the balance's currency.
    amount bigint NOT NULL,
    fee bigint NOT NULL,
    currency text NOT NULL,
    -- The amount that was charged or given back, in minor units of the price's currency. The balance
    -- may have another one. NULL if the movement is of no payment.
    asked_amount bigint,
    asked_currency text,
    -- The processor's time of the movement.
    moved_at timestamptz NOT NULL,
    read_at timestamptz NOT NULL,
    CONSTRAINT an_amount_has_a_currency
        CHECK ((asked_amount IS NULL) = (asked_currency IS NULL))
);

CREATE INDEX processor_movements_by_attempt ON processor_movements (attempt_id)
    WHERE attempt_id IS NOT NULL;
CREATE INDEX processor_movements_by_payment ON processor_movements (payment)
    WHERE payment IS NOT NULL;

-- One row: how far the list was read. A store with the sandbox's processor has none.
CREATE TABLE processor_movement_places (
    one boolean PRIMARY KEY DEFAULT true CONSTRAINT there_is_one_place CHECK (one),
    read_until timestamptz NOT NULL,
    -- The time from which any process may read on.
    due_at timestamptz NOT NULL
);

GRANT SELECT, INSERT ON processor_movements, processor_movement_places TO {role};
GRANT UPDATE (read_until, due_at) ON processor_movement_places TO {role};

-- The charges of the processor that the store uses. The sandbox's own books are its list.
CREATE VIEW processor_charges AS
    SELECT idempotency_key AS attempt_id, idempotency_key::text AS reference, amount, currency,
        created_at
    FROM sandbox_processor.charges WHERE decline_reason IS NULL
    UNION ALL
    SELECT attempt_id, coalesce(payment, source, movement_id), coalesce(asked_amount, 0),
        coalesce(asked_currency, upper(currency)), moved_at
    FROM processor_movements WHERE kind IN ('charge', 'payment');

-- What went back to buyers, by the attempt of the charge. An amount is negative if it came back to
-- the store, as by a refund that failed.
CREATE VIEW processor_returns AS
    SELECT charge_key AS attempt_id, amount, currency, created_at FROM sandbox_processor.refunds
    UNION ALL
    SELECT refund.charge_key, -reversal.amount, reversal.currency, reversal.created_at
    FROM sandbox_processor.refunds refund
    JOIN sandbox_processor.reversals reversal ON reversal.refund_key = refund.idempotency_key
    UNION ALL
    SELECT charge.attempt_id,
        CASE WHEN movement.amount < 0 THEN movement.asked_amount ELSE -movement.asked_amount END,
        movement.asked_currency, movement.moved_at
    FROM processor_movements charge
    JOIN processor_movements movement ON movement.payment = charge.payment
    WHERE charge.kind IN ('charge', 'payment') AND movement.kind NOT IN ('charge', 'payment')
        AND movement.asked_amount IS NOT NULL;

GRANT SELECT ON processor_charges, processor_returns TO {role};

-- Events that were applied long ago are removed.
CREATE INDEX processor_events_applied ON processor_events (applied_at)
    WHERE applied_at IS NOT NULL;
GRANT DELETE ON processor_events TO {role};
