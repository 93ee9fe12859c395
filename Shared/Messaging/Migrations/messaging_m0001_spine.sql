-- The spine of every service: what it publishes, what it has consumed, and what it could not.
-- SERVICE_ROLE is the service's run-time role; it owns nothing and is granted what it needs.

REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO SERVICE_ROLE;

-- The outbox is the event log: insert-only. Its order is (xid, position).
--
-- `xid` is the number of the row's database transaction or, if higher, of the newest one that had
-- ended when the row was appended. Rows below the oldest running database transaction are therefore
-- a prefix that no later commit can add to. And of two that change the same key, the one that
-- waited for the other's lock comes later, although its own number may be the lower one: it was
-- drawn before the wait, and the row is appended after it.
CREATE FUNCTION outbox_xid() RETURNS xid8
LANGUAGE sql VOLATILE SET search_path = pg_catalog AS $$
    SELECT greatest(
        pg_current_xact_id(),
        (pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1)::text::xid8
    )
$$;

CREATE SEQUENCE outbox_positions;

CREATE TABLE outbox (
    position bigint NOT NULL DEFAULT nextval('outbox_positions'),
    xid xid8 NOT NULL DEFAULT outbox_xid(),
    event_id uuid NOT NULL,
    type text NOT NULL,
    topic text NOT NULL,
    key text NOT NULL,
    subject text NOT NULL,
    time timestamptz NOT NULL,
    traceparent text,
    data json NOT NULL
) PARTITION BY RANGE (time);

CREATE INDEX outbox_in_commit_order ON outbox (xid, position);

-- Takes what no month's partition does, so that a clock far off loses nothing.
CREATE TABLE outbox_default PARTITION OF outbox DEFAULT;

-- Makes the partitions of this month and the next ones that are not there yet. Runs with the
-- owner's rights because the service's role may not create tables.
CREATE FUNCTION ensure_outbox_partitions(months integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    month date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
    created integer := 0;
    name text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('outbox_partitions'));
    FOR index IN 0..least(months, 24) LOOP
        name := 'outbox_' || to_char(month, 'YYYY_MM');
        IF to_regclass('public.' || name) IS NULL AND NOT EXISTS (
            SELECT 1 FROM outbox_default
            WHERE time >= month::timestamp AT TIME ZONE 'UTC'
              AND time < (month + interval '1 month') AT TIME ZONE 'UTC'
        ) THEN
            EXECUTE format(
                'CREATE TABLE %I PARTITION OF outbox FOR VALUES FROM (%L) TO (%L)',
                name,
                month::timestamp AT TIME ZONE 'UTC',
                (month + interval '1 month') AT TIME ZONE 'UTC'
            );
            created := created + 1;
        END IF;
        month := (month + interval '1 month')::date;
    END LOOP;
    RETURN created;
END
$$;
REVOKE ALL ON FUNCTION ensure_outbox_partitions(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ensure_outbox_partitions(integer) TO SERVICE_ROLE;
SELECT ensure_outbox_partitions(3);

GRANT SELECT, INSERT ON outbox TO SERVICE_ROLE;
GRANT USAGE ON SEQUENCE outbox_positions TO SERVICE_ROLE;

-- How far the relay has published (its own row, one), which log it writes into (the epoch rises
-- when the broker has lost its log), and how far every consumer has confirmed.
CREATE TABLE relay_cursor (
    is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
    epoch integer NOT NULL DEFAULT 1,
    xid xid8 NOT NULL DEFAULT '0',
    position bigint NOT NULL DEFAULT 0,
    confirmed_xid xid8 NOT NULL DEFAULT '0',
    confirmed_position bigint NOT NULL DEFAULT 0
);
INSERT INTO relay_cursor DEFAULT VALUES;
GRANT SELECT, UPDATE ON relay_cursor TO SERVICE_ROLE;

-- The newest offset that the broker reported for each partition; one that is lower says that the
-- log was lost.
CREATE TABLE relay_offsets (
    topic text NOT NULL,
    partition integer NOT NULL,
    last_offset bigint NOT NULL,
    PRIMARY KEY (topic, partition)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON relay_offsets TO SERVICE_ROLE;

-- What each consumer has done: one row for an event, in the database transaction of its effect.
CREATE TABLE inbox (
    consumer text NOT NULL,
    event_id uuid NOT NULL,
    PRIMARY KEY (consumer, event_id)
);
GRANT SELECT, INSERT ON inbox TO SERVICE_ROLE;

-- How far each consumer is in its producers' own logs, whatever the broker's offsets say.
CREATE TABLE consumer_positions (
    consumer text NOT NULL,
    topic text NOT NULL,
    partition integer NOT NULL,
    epoch integer NOT NULL,
    xid xid8 NOT NULL,
    position bigint NOT NULL,
    event_time timestamptz NOT NULL,
    PRIMARY KEY (consumer, topic, partition)
);
GRANT SELECT, INSERT, UPDATE ON consumer_positions TO SERVICE_ROLE;

-- What a consumer could not apply ('dead'), and what waits behind it because it is of the same
-- key ('parked'). A redrive applies both in order.
CREATE TABLE dead_letters (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    consumer text NOT NULL,
    event_id uuid NOT NULL,
    topic text NOT NULL,
    partition integer NOT NULL,
    "offset" bigint NOT NULL,
    key text NOT NULL,
    type text NOT NULL,
    subject text NOT NULL,
    time timestamptz NOT NULL,
    traceparent text,
    data bytea NOT NULL,
    reason text NOT NULL,
    state text NOT NULL CHECK (state IN ('dead', 'parked', 'redriven', 'discarded')),
    recorded_at timestamptz NOT NULL DEFAULT now(),
    redrive_requested_at timestamptz,
    settled_at timestamptz,
    CONSTRAINT an_event_is_dead_once UNIQUE (consumer, event_id)
);
CREATE INDEX dead_letters_that_block ON dead_letters (consumer, key, id)
    WHERE state IN ('dead', 'parked');
GRANT SELECT, INSERT ON dead_letters TO SERVICE_ROLE;
GRANT UPDATE (state, redrive_requested_at, settled_at, reason) ON dead_letters TO SERVICE_ROLE;
