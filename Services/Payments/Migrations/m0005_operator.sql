-- The operator compares the store's books with the processor's own.

GRANT USAGE ON SCHEMA sandbox_processor TO counterfoil_operator;
GRANT SELECT ON ALL TABLES IN SCHEMA sandbox_processor TO counterfoil_operator;
ALTER DEFAULT PRIVILEGES IN SCHEMA sandbox_processor GRANT SELECT ON TABLES
    TO counterfoil_operator;
