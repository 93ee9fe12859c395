-- What the other scripts need in a database that a service's own `migrate` has made: the batch of
-- purchases that one of them stands for, and samples of what services write as text.

CREATE SCHEMA ceiling;

-- Events' data, a receipt's payload and the like, copied from the run that the ceiling is held against.
CREATE TABLE ceiling.samples (name text PRIMARY KEY, data json, bytes bytea);

-- A batch: purchases numbered from `first`, with accounts of their own for each of pgbench's clients
-- (each has a hundred million numbers), so that two clients wait for each other as little as may be.
CREATE FUNCTION ceiling.batch(first bigint, n integer, accounts integer)
RETURNS TABLE (id bigint, account_id text, bundle_id text)
LANGUAGE sql STABLE AS $$
    SELECT id, 'ceiling-' || id / 100000000 || '-' || id % accounts, 'com.example.app'
    FROM generate_series(first, first + n - 1) AS id
$$;

-- An identity that rises with the purchase, as those of services rise with time (UUID version 7).
CREATE FUNCTION ceiling.uuid(kind text, id bigint) RETURNS uuid
LANGUAGE sql IMMUTABLE AS $$
    SELECT ('01a00000-000' || kind || '-7000-8000-' || lpad(to_hex(id), 12, '0'))::uuid
$$;

CREATE FUNCTION ceiling.sample(wanted text) RETURNS json
LANGUAGE sql STABLE AS $$ SELECT data FROM ceiling.samples WHERE name = wanted $$;

CREATE FUNCTION ceiling.bytes(wanted text) RETURNS bytea
LANGUAGE sql STABLE AS $$ SELECT bytes FROM ceiling.samples WHERE name = wanted $$;
