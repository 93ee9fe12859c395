-- Requests of buyers for refunds, and the decisions about them.

CREATE TABLE refund_requests (
    transaction_id bigint NOT NULL,
    -- The number of the request among those of the transaction.
    number integer NOT NULL CONSTRAINT refund_request_number_is_positive CHECK (number > 0),
    requested_at timestamptz NOT NULL,
    state text NOT NULL
        CONSTRAINT refund_request_state_is_known CHECK (state IN ('open', 'approved', 'declined')),
    -- The whole request, as in its events.
    data json NOT NULL,
    -- The act that decided it. NULL while it is open.
    act json,
    -- The key under which the buyer asked. NULL in a database that was rebuilt.
    idempotency_key text,
    PRIMARY KEY (transaction_id, number),
    CONSTRAINT a_decided_request_has_an_act CHECK ((state = 'open') = (act IS NULL))
);

-- A purchase has at most one open request, no matter how many devices ask.
CREATE UNIQUE INDEX refund_requests_open_once ON refund_requests (transaction_id)
    WHERE state = 'open';
CREATE INDEX refund_requests_in_order ON refund_requests (requested_at, transaction_id, number);
CREATE INDEX refund_requests_by_state
    ON refund_requests (state, requested_at, transaction_id, number);

GRANT SELECT, INSERT ON refund_requests TO {role};
GRANT UPDATE (state, data, act) ON refund_requests TO {role};
