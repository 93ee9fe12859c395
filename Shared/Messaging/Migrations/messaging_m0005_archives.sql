-- Old months of the event log leave the database once they are in files (`counterfoil log`). Their
-- seals stay, about 1 % of the size of the rows, and prove the files.

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_archivist') THEN
        RAISE EXCEPTION 'the role counterfoil_archivist is not there; run deploy/postgres/init.sql again as a superuser (what is there stays as it is), then migrate again'
            USING ERRCODE = 'undefined_object';
    END IF;
END
$$;

-- A month that has left the database. The row is written together with the removal of the events.
CREATE TABLE log_archives (
    log text NOT NULL,
    month text NOT NULL,
    row_count bigint NOT NULL CHECK (row_count > 0),
    first_xid xid8 NOT NULL,
    first_position bigint NOT NULL,
    last_xid xid8 NOT NULL,
    last_position bigint NOT NULL,
    -- The month's newest seal at that time. It covers the last of the rows.
    last_seal bigint NOT NULL,
    head bytea NOT NULL CHECK (length(head) = 32),
    file_name text NOT NULL,
    file_sha256 bytea NOT NULL CHECK (length(file_sha256) = 32),
    archived_at timestamptz NOT NULL DEFAULT now(),
    archived_by text NOT NULL DEFAULT session_user,
    PRIMARY KEY (log, month)
);
GRANT SELECT ON log_archives TO SERVICE_ROLE;

GRANT USAGE ON SCHEMA public TO counterfoil_archivist;
GRANT SELECT ON outbox, log_seals, log_archives, relay_place TO counterfoil_archivist;

-- Makes the partitions that the outbox needs: for the month of a store time, for the following
-- months, and for every month of the rows in `outbox_default`, which it moves. Rows carry store
-- time, so the months follow the store's clock and not the machine's. A month that was archived
-- does not come back.
--
-- The function runs with the owner's rights because the service's role may not create tables. While
-- it waits for a lock, relays wait behind it, and somebody who reads the log, such as a proof or a
-- backup, may hold that lock for hours. So it gives up soon, and the service tries again later.
CREATE FUNCTION ensure_outbox_partitions(store_time timestamptz, months integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '200ms' AS $$
DECLARE
    this_month date := date_trunc('month', store_time AT TIME ZONE 'UTC')::date;
    needed record;
    created integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('outbox_partitions'));
    FOR needed IN
        SELECT 'outbox_' || to_char(month, 'YYYY_MM') AS name,
            month AT TIME ZONE 'UTC' AS month_start,
            (month + interval '1 month') AT TIME ZONE 'UTC' AS month_end
        FROM (
            SELECT this_month + n * interval '1 month' FROM generate_series(0, least(months, 24)) AS n
            UNION
            SELECT date_trunc('month', time AT TIME ZONE 'UTC') FROM outbox_default
            -- The name of a partition has a year of four digits.
            WHERE time >= '1970-01-01Z' AND time < '9999-01-01Z'
        ) AS wanted (month)
        WHERE NOT EXISTS (
            SELECT FROM log_archives
            WHERE log = 'outbox' AND log_archives.month = to_char(wanted.month, 'YYYY-MM')
        )
        ORDER BY month
    LOOP
        CONTINUE WHEN to_regclass('public.' || needed.name) IS NOT NULL;
        -- From here on nobody appends. Whoever had chosen the default partition and then waited for its
        -- lock would be refused afterwards: its rows would belong to the new one.
        LOCK TABLE ONLY outbox IN SHARE ROW EXCLUSIVE MODE;
        LOCK TABLE outbox_default IN ACCESS EXCLUSIVE MODE;
        EXECUTE format('CREATE TABLE %I (LIKE outbox INCLUDING ALL)', needed.name);
        EXECUTE format(
            'WITH moved AS (DELETE FROM outbox_default WHERE time >= $1 AND time < $2 RETURNING *)
            INSERT INTO %I SELECT * FROM moved',
            needed.name
        ) USING needed.month_start, needed.month_end;
        EXECUTE format(
            'ALTER TABLE outbox ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
            needed.name, needed.month_start, needed.month_end
        );
        created := created + 1;
    END LOOP;
    RETURN created;
END
$$;
REVOKE ALL ON FUNCTION ensure_outbox_partitions(timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ensure_outbox_partitions(timestamptz, integer) TO SERVICE_ROLE;
SELECT ensure_outbox_partitions(now(), 3);

-- Drops a month of the outbox that is over, sealed to its last row and confirmed by every consumer,
-- and records where it went. The caller says what the file holds. If the table differs, nothing
-- happens. The function runs with the owner's rights, so that a role may do this and nothing else.
CREATE FUNCTION archive_outbox_month(
    archived_month text,
    archive_name text,
    archive_sha256 bytea,
    archive_rows bigint,
    archive_head bytea
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    partition_name text := 'outbox_' || replace(archived_month, '-', '_');
    month_start timestamptz;
    month_end timestamptz;
    found_rows bigint;
    first_row record;
    last_row record;
    newest_seal record;
    sealed_rows bigint;
    is_confirmed boolean;
BEGIN
    IF archived_month !~ '^[0-9]{4}-(0[1-9]|1[0-2])$' OR NOT EXISTS (
        SELECT FROM pg_inherits
        WHERE inhparent = 'public.outbox'::regclass
            AND inhrelid = to_regclass('public.' || partition_name)
    ) THEN
        RAISE EXCEPTION 'the outbox has no partition of the month %', archived_month
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    month_start := (archived_month || '-01')::timestamp AT TIME ZONE 'UTC';
    month_end := ((archived_month || '-01')::timestamp + interval '1 month') AT TIME ZONE 'UTC';
    IF month_end > now() THEN
        RAISE EXCEPTION 'the month % is not over', archived_month
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    -- From here on nobody adds to the month, so the rows that are counted are the rows that are
    -- dropped.
    EXECUTE format('LOCK TABLE %I IN SHARE MODE', partition_name);
    EXECUTE format('SELECT count(*) FROM %I', partition_name) INTO found_rows;
    IF found_rows IS DISTINCT FROM archive_rows THEN
        RAISE EXCEPTION 'the month % has % rows, and the file %', archived_month, found_rows,
            archive_rows
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    EXECUTE format('SELECT xid, position FROM %I ORDER BY xid, position LIMIT 1', partition_name)
        INTO first_row;
    EXECUTE format(
        'SELECT xid, position FROM %I ORDER BY xid DESC, position DESC LIMIT 1', partition_name
    ) INTO last_row;
    SELECT (last_row.xid, last_row.position) <= (confirmed_xid, confirmed_position)
        INTO is_confirmed FROM relay_place;
    IF is_confirmed IS NOT TRUE THEN
        RAISE EXCEPTION 'the month % has events that a consumer has not confirmed', archived_month
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    SELECT number, digest, last_xid, last_position INTO newest_seal FROM log_seals
        WHERE log = 'outbox' AND month = archived_month ORDER BY number DESC LIMIT 1;
    SELECT sum(row_count) INTO sealed_rows FROM log_seals
        WHERE log = 'outbox' AND month = archived_month;
    IF sealed_rows IS DISTINCT FROM found_rows
        OR (newest_seal.last_xid, newest_seal.last_position)
            IS DISTINCT FROM (last_row.xid, last_row.position)
        OR newest_seal.digest IS DISTINCT FROM archive_head
    THEN
        RAISE EXCEPTION 'the month % is not what its seals say, or the file not what they are over',
            archived_month
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    IF EXISTS (
        SELECT FROM outbox_default WHERE time >= month_start AND time < month_end
    ) THEN
        RAISE EXCEPTION 'the month % has rows outside its partition', archived_month
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    INSERT INTO log_archives (log, month, row_count, first_xid, first_position, last_xid,
        last_position, last_seal, head, file_name, file_sha256)
    VALUES ('outbox', archived_month, found_rows, first_row.xid, first_row.position, last_row.xid,
        last_row.position, newest_seal.number, newest_seal.digest, archive_name, archive_sha256);
    EXECUTE format('DROP TABLE %I', partition_name);
END
$$;
REVOKE ALL ON FUNCTION archive_outbox_month(text, text, bytea, bigint, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION archive_outbox_month(text, text, bytea, bigint, bytea)
    TO counterfoil_archivist;
