-- Makes one database and one role for each service, and the operator's roles. Tables are made by
-- `<service> migrate`.
--
--   psql -v ON_ERROR_STOP=1 -U postgres -f init.sql
--
-- Passwords come from the environment: COUNTERFOIL_OWNER_PASSWORD, and
-- COUNTERFOIL_<SERVICE>_PASSWORD for each service and for OPERATOR, READER, ARCHIVIST and SHADOW. A role
-- whose variable is missing gets no password, and can log in only where pg_hba.conf requires none.
-- Running the script again sets the passwords again, adds what is new, and changes nothing else.

\set ON_ERROR_STOP on
\getenv owner_password COUNTERFOIL_OWNER_PASSWORD
\getenv catalog_password COUNTERFOIL_CATALOG_PASSWORD
\getenv payments_password COUNTERFOIL_PAYMENTS_PASSWORD
\getenv receipts_password COUNTERFOIL_RECEIPTS_PASSWORD
\getenv fulfillment_password COUNTERFOIL_FULFILLMENT_PASSWORD
\getenv shadow_password COUNTERFOIL_SHADOW_PASSWORD
\getenv operator_password COUNTERFOIL_OPERATOR_PASSWORD
\getenv reader_password COUNTERFOIL_READER_PASSWORD
\getenv archivist_password COUNTERFOIL_ARCHIVIST_PASSWORD

-- The owner owns the databases and their tables, and runs migrations. The others are the services
-- at run time: migrations grant each exactly what it needs. The operator's role is for
-- `counterfoil`, which reads, and decides about dead letters. The reader's is for the console.
SELECT format('CREATE ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE', name)
FROM unnest(ARRAY[
    'counterfoil_owner', 'counterfoil_catalog', 'counterfoil_payments', 'counterfoil_receipts',
    'counterfoil_fulfillment', 'counterfoil_operator', 'counterfoil_reader', 'counterfoil_archivist'
]) AS name
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name)
\gexec

-- `counterfoil replay --verify` rebuilds the tables in databases of this role, which may connect to
-- no other.
SELECT 'CREATE ROLE counterfoil_shadow LOGIN NOSUPERUSER CREATEDB NOCREATEROLE'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_shadow')
\gexec

\if :{?owner_password}
ALTER ROLE counterfoil_owner PASSWORD :'owner_password';
\endif
\if :{?catalog_password}
ALTER ROLE counterfoil_catalog PASSWORD :'catalog_password';
\endif
\if :{?payments_password}
ALTER ROLE counterfoil_payments PASSWORD :'payments_password';
\endif
\if :{?receipts_password}
ALTER ROLE counterfoil_receipts PASSWORD :'receipts_password';
\endif
\if :{?fulfillment_password}
ALTER ROLE counterfoil_fulfillment PASSWORD :'fulfillment_password';
\endif
\if :{?shadow_password}
ALTER ROLE counterfoil_shadow PASSWORD :'shadow_password';
\endif
\if :{?operator_password}
ALTER ROLE counterfoil_operator PASSWORD :'operator_password';
\endif
\if :{?reader_password}
ALTER ROLE counterfoil_reader PASSWORD :'reader_password';
\endif
\if :{?archivist_password}
ALTER ROLE counterfoil_archivist PASSWORD :'archivist_password';
\endif

SELECT format('CREATE DATABASE %I OWNER counterfoil_owner', name)
FROM unnest(ARRAY['catalog', 'payments', 'receipts', 'fulfillment']) AS name
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = name)
\gexec

-- A service may connect only to its own database; the operator, the reader and the archivist to all.
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', name),
    format(
        'GRANT CONNECT ON DATABASE %I TO %I, counterfoil_operator, counterfoil_reader, counterfoil_archivist',
        name, 'counterfoil_' || name)
FROM unnest(ARRAY['catalog', 'payments', 'receipts', 'fulfillment']) AS name
\gexec

-- Only the owner may make tables. The reader may read them all, also those that later migrations add.
\connect catalog
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
ALTER SCHEMA public OWNER TO counterfoil_owner;
ALTER DEFAULT PRIVILEGES FOR ROLE counterfoil_owner GRANT USAGE ON SCHEMAS TO counterfoil_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE counterfoil_owner GRANT SELECT ON TABLES TO counterfoil_reader;
SELECT format('GRANT USAGE ON SCHEMA %I TO counterfoil_reader', nspname),
    format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO counterfoil_reader', nspname)
FROM pg_namespace WHERE nspowner = 'counterfoil_owner'::regrole
\gexec
\connect payments
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
ALTER SCHEMA public OWNER TO counterfoil_owner;
ALTER DEFAULT PRIVILEGES FOR ROLE counterfoil_owner GRANT USAGE ON SCHEMAS TO counterfoil_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE counterfoil_owner GRANT SELECT ON TABLES TO counterfoil_reader;
SELECT format('GRANT USAGE ON SCHEMA %I TO counterfoil_reader', nspname),
    format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO counterfoil_reader', nspname)
FROM pg_namespace WHERE nspowner = 'counterfoil_owner'::regrole
\gexec
\connect receipts
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
ALTER SCHEMA public OWNER TO counterfoil_owner;
ALTER DEFAULT PRIVILEGES FOR ROLE counterfoil_owner GRANT USAGE ON SCHEMAS TO counterfoil_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE counterfoil_owner GRANT SELECT ON TABLES TO counterfoil_reader;
SELECT format('GRANT USAGE ON SCHEMA %I TO counterfoil_reader', nspname),
    format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO counterfoil_reader', nspname)
FROM pg_namespace WHERE nspowner = 'counterfoil_owner'::regrole
\gexec
\connect fulfillment
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
ALTER SCHEMA public OWNER TO counterfoil_owner;
ALTER DEFAULT PRIVILEGES FOR ROLE counterfoil_owner GRANT USAGE ON SCHEMAS TO counterfoil_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE counterfoil_owner GRANT SELECT ON TABLES TO counterfoil_reader;
SELECT format('GRANT USAGE ON SCHEMA %I TO counterfoil_reader', nspname),
    format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO counterfoil_reader', nspname)
FROM pg_namespace WHERE nspowner = 'counterfoil_owner'::regrole
\gexec
