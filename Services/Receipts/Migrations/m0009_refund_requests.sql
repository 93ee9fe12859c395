-- Requests of buyers for refunds, from the events of payments.
CREATE TABLE refund_requests (
    transaction_id bigint NOT NULL,
    number         integer NOT NULL,
    requested_at   timestamptz NOT NULL,
    state          text NOT NULL,
    PRIMARY KEY (transaction_id, number)
);

GRANT SELECT, INSERT ON refund_requests TO counterfoil_receipts;
GRANT UPDATE (state) ON refund_requests TO counterfoil_receipts;
