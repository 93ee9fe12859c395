-- The subscriptions that the catalog sells, for the win-back offers in renewal info.
CREATE TABLE products (
    id      text PRIMARY KEY,
    version integer NOT NULL,
    -- The whole product, as in its events.
    data    json NOT NULL
);

GRANT SELECT, INSERT, UPDATE ON products TO counterfoil_receipts;
