-- What the payment processor tells by itself. An event only says that something changed: what is
-- settled is what the processor says when it is asked.

CREATE TABLE processor_events (
    -- The processor's id, the same in every delivery.
    event_id text PRIMARY KEY,
    type text NOT NULL,
    -- The object that changed.
    object_id text NOT NULL,
    -- The attempt that it belongs to. NULL if it is none of an attempt.
    transaction_id bigint,
    attempt_id uuid,
    -- The processor's time of the change.
    created_at timestamptz NOT NULL,
    received_at timestamptz NOT NULL,
    -- The time from which any process may look at it. NULL once it is applied.
    due_at timestamptz,
    tries integer NOT NULL DEFAULT 0,
    applied_at timestamptz,
    CONSTRAINT an_attempt_has_a_transaction
        CHECK ((attempt_id IS NULL) = (transaction_id IS NULL)),
    CONSTRAINT applied_or_due CHECK ((due_at IS NULL) = (applied_at IS NOT NULL))
);

CREATE INDEX processor_events_due ON processor_events (due_at) WHERE due_at IS NOT NULL;

-- One row: how far the processor's list of events was read.
CREATE TABLE processor_event_places (
    one boolean PRIMARY KEY DEFAULT true CONSTRAINT there_is_one_place CHECK (one),
    read_until timestamptz NOT NULL,
    -- The time from which any process may read on.
    due_at timestamptz NOT NULL
);

GRANT SELECT, INSERT ON processor_events, processor_event_places TO {role};
GRANT UPDATE (due_at, tries, applied_at) ON processor_events TO {role};
GRANT UPDATE (read_until, due_at) ON processor_event_places TO {role};
