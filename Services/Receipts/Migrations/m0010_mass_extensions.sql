-- The requests to extend all subscribers of a product whose summaries were made, each once.
CREATE TABLE extension_summaries (
    -- The number of the request at payments.
    number  bigint PRIMARY KEY,
    made_at timestamptz NOT NULL
);

GRANT SELECT, INSERT ON extension_summaries TO counterfoil_receipts;
