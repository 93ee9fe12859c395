-- The products of the catalog at their newest versions, with the names of the entitlements they
-- give.
CREATE TABLE products (
    id text COLLATE "C" PRIMARY KEY,
    version integer NOT NULL,
    -- The names, as a list of texts.
    entitlements json NOT NULL
);

GRANT SELECT, INSERT ON products TO counterfoil_fulfillment;
GRANT UPDATE (version, entitlements) ON products TO counterfoil_fulfillment;
