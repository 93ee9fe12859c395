-- The products. `product` holds the current version of a product as it is published. The other
-- columns repeat what the database itself has to know.
CREATE TABLE products (
    id text NOT NULL PRIMARY KEY,
    version bigint NOT NULL,
    type text NOT NULL,
    is_on_sale boolean NOT NULL,
    product json NOT NULL,
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL,
    CONSTRAINT versions_count_from_one CHECK (version >= 1),
    CONSTRAINT product_is_the_one_of_its_row CHECK (
        product ->> 'id' = id
        AND (product ->> 'version')::bigint = version
        AND product ->> 'type' = type
        AND (product ->> 'isOnSale')::boolean = is_on_sale
    )
);

-- Every version of every product, including the current one.
CREATE TABLE product_versions (
    product_id text NOT NULL REFERENCES products (id),
    version bigint NOT NULL,
    product json NOT NULL,
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (product_id, version)
);

-- Products are never deleted, and their ids and types never change: the service's role has no right
-- to do either. The table of versions is insert-only.
GRANT SELECT, INSERT ON products TO counterfoil_catalog;
GRANT UPDATE (version, is_on_sale, product, changed_by, changed_at) ON products
    TO counterfoil_catalog;
GRANT SELECT, INSERT ON product_versions TO counterfoil_catalog;
