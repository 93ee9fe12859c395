-- The spine of every service: the tables of what it publishes, has consumed, and could not consume.
-- SERVICE_ROLE is the service's run-time role; it owns nothing and is granted what it needs.

REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO SERVICE_ROLE;

-- The outbox is the event log: insert-only. Its order is (xid, position).
--
-- `xid` is `outbox_base` and the number of the row's database transaction or, if higher, of the newest
-- one that had ended when the row was appended. Rows below the oldest running database transaction are therefore
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

-- What is added to `outbox_xid` in the places of events, so that no place is given twice.
--
-- A server that was restored from a backup counts its transactions from the backup's number, and would
-- give its new events the places of those that were lost with it. Consumers would take them for events
-- that they have applied. Therefore the first append after each start of the server raises the base:
-- its place is the present microsecond. Numbers of transactions grow more slowly than microseconds, so
-- a place given later is higher than all places given before, even those that nobody here knows.
CREATE TABLE outbox_base (
    is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
    base bigint NOT NULL DEFAULT 0,
    server_started_at timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO outbox_base DEFAULT VALUES;
GRANT SELECT, UPDATE ON outbox_base TO SERVICE_ROLE;

-- The first part of the place of the rows that this statement appends.
CREATE FUNCTION outbox_place() RETURNS xid8
LANGUAGE plpgsql VOLATILE SET search_path = public, pg_temp AS $$
DECLARE
    added bigint;
BEGIN
    SELECT base INTO added FROM outbox_base WHERE server_started_at = pg_postmaster_start_time();
    IF NOT FOUND THEN
        -- Appends at the same time wait here for this one's commit, and then find nothing to raise.
        UPDATE outbox_base SET
            base = greatest(
                base,
                (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
                    - pg_current_xact_id()::text::bigint
            ),
            server_started_at = pg_postmaster_start_time()
        WHERE server_started_at <> pg_postmaster_start_time();
        SELECT base INTO STRICT added FROM outbox_base;
    END IF;
    RETURN (added + outbox_xid()::text::bigint)::text::xid8;
END
$$;

-- The place below which no row can appear any more: every database transaction that could append one
-- there has ended.
CREATE FUNCTION outbox_settled() RETURNS xid8
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT (base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint)::text::xid8
    FROM outbox_base
$$;

-- The JSON of a document that services store packed (`PackedJSON`): a control character stands for
-- each of the first 29 texts, and U+001E with a printable character for each of the others. A document
-- after U+001F is stored as it is. For operators and reconciliation; services unpack it themselves.
CREATE FUNCTION unpacked_json(packed bytea) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog AS $$
DECLARE
    texts CONSTANT text[] := ARRAY[
        '{"accountID":"',
        '","bundleID":"',
        '","deliveryPlan":[',
        '{"amount":',
        ',"kind":"credit","unit":"',
        '],"id":"',
        '","originalID":"',
        '","originalPurchasedAt":',
        ',"price":{"currency":"',
        '","price":{"currency":"',
        '","minorUnits":',
        '},"productID":"',
        '","productType":"consumable","productVersion":',
        '","productType":"nonConsumable","productVersion":',
        ',"purchasedAt":',
        ',"quantity":1,"reason":"purchase","requestedAt":',
        ',"state":"purchased","storefront":"',
        ',"state":"purchasing","storefront":"',
        '","version":',
        '{"environment":"Production",',
        '{"environment":"Sandbox",',
        '"posting":{"id":"',
        '","taxBasisPoints":0},"transaction":{"accountID":"',
        '"transaction":{"accountID":"',
        '{"isDelivered":true,"revision":',
        '{"finishedAt":',
        ',"isDelivered":true,"revision":',
        ',"transaction":{"accountID":"',
        '{"issuedAt":',
        ',"payloadSHA256":"',
        '","signing":{"appTransactionID":',
        ',"environment":"Sandbox","historyPosition":',
        ',"environment":"Production","historyPosition":',
        ',"signature":"',
        '"},"signingChainID":"',
        '","transaction":{"accountID":"',
        '","productType":"autoRenewableSubscription","productVersion":',
        '","productType":"nonRenewingSubscription","productVersion":',
        '","applicationUsername":"',
        '{"kind":"entitlement"}',
        '{"kind":"app"}',
        '{"kind":"webhook","url":"',
        '],"failureReason":"',
        ',"quantity":',
        ',"reason":"',
        '","requestedAt":',
        ',"refunds":[',
        ',"reversedAt":',
        ',"revokedAt":',
        ',"state":"',
        '","storefront":"',
        '","taxBasisPoints":',
        '{"isDelivered":false,"revision":',
        ',"isDelivered":false,"revision":',
        '{"contents":[',
        ',"originalTransactionID":"',
        '","transactionID":"',
        '","signing":{"appAccountToken":"',
        '","appTransactionID":'
    ];
    document text;
BEGIN
    IF substr(packed, 1, 1) = '\x1f' THEN
        RETURN convert_from(substr(packed, 2), 'UTF8');
    END IF;
    document := convert_from(packed, 'UTF8');
    IF position(chr(30) IN document) > 0 THEN
        FOR number IN 30..cardinality(texts) LOOP
            document := replace(document, chr(30) || chr(18 + number), texts[number]);
        END LOOP;
    END IF;
    FOR number IN 1..29 LOOP
        document := replace(document, chr(number), texts[number]);
    END LOOP;
    IF document ~ '[\x01-\x1f]' THEN
        RAISE EXCEPTION 'packed JSON has a code that this version does not know: %', packed
            USING ERRCODE = 'data_corrupted';
    END IF;
    RETURN document;
END
$$;

CREATE SEQUENCE outbox_positions;

CREATE TABLE outbox (
    position bigint NOT NULL DEFAULT nextval('outbox_positions'),
    xid xid8 NOT NULL DEFAULT outbox_place(),
    event_id uuid NOT NULL,
    type text NOT NULL,
    topic text NOT NULL,
    key text NOT NULL,
    subject text NOT NULL,
    time timestamptz NOT NULL,
    -- The ids of the trace and of the span, and the flags: 25 bytes.
    traceparent bytea,
    -- Packed JSON.
    data bytea NOT NULL
) PARTITION BY RANGE (time);

CREATE INDEX outbox_in_commit_order ON outbox (xid, position);

-- Takes what is appended before its month has a partition, and what belongs to a month that has left
-- for a file.
CREATE TABLE outbox_default PARTITION OF outbox DEFAULT;

GRANT SELECT, INSERT ON outbox TO SERVICE_ROLE;
GRANT USAGE ON SEQUENCE outbox_positions TO SERVICE_ROLE;

-- How far the relay has published (its own row, one), which log it writes into (the epoch rises
-- when the broker has lost its log), and how far every consumer has confirmed.
CREATE TABLE relay_place (
    is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
    epoch integer NOT NULL DEFAULT 1,
    xid xid8 NOT NULL DEFAULT '0',
    position bigint NOT NULL DEFAULT 0,
    confirmed_xid xid8 NOT NULL DEFAULT '0',
    confirmed_position bigint NOT NULL DEFAULT 0
);
INSERT INTO relay_place DEFAULT VALUES;
GRANT SELECT, UPDATE ON relay_place TO SERVICE_ROLE;

-- The newest offset that the broker reported for each partition; one that is lower says that the
-- log was lost.
CREATE TABLE relay_offsets (
    topic text NOT NULL,
    partition integer NOT NULL,
    last_offset bigint NOT NULL,
    PRIMARY KEY (topic, partition)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON relay_offsets TO SERVICE_ROLE;

-- The newest event of each event chain: of all that this service has published, and of what every
-- consumer has confirmed. A chain is the events of a topic whose keys fall into one slot. Each
-- event names the one before it in its chain, so that a consumer notices one that is missing.
CREATE TABLE relay_chains (
    topic text NOT NULL,
    chain text NOT NULL,
    xid xid8 NOT NULL,
    position bigint NOT NULL,
    confirmed_xid xid8 NOT NULL,
    confirmed_position bigint NOT NULL,
    PRIMARY KEY (topic, chain)
) WITH (fillfactor = 50);
GRANT SELECT, INSERT, UPDATE, DELETE ON relay_chains TO SERVICE_ROLE;

-- What each consumer has done: every event of a chain up to this place in its producer's log is applied
-- or is a dead letter. Written in the database transaction of the effect.
CREATE TABLE consumer_places (
    consumer text NOT NULL,
    topic text NOT NULL,
    chain text NOT NULL,
    xid xid8 NOT NULL DEFAULT '0',
    position bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (consumer, topic, chain)
) WITH (fillfactor = 50);
GRANT SELECT, INSERT, UPDATE ON consumer_places TO SERVICE_ROLE;

-- Where each consumer goes on reading a partition, and in which of the broker's logs.
CREATE TABLE consumer_positions (
    consumer text NOT NULL,
    topic text NOT NULL,
    partition integer NOT NULL,
    epoch integer NOT NULL,
    next_offset bigint NOT NULL,
    event_time timestamptz NOT NULL,
    PRIMARY KEY (consumer, topic, partition)
) WITH (fillfactor = 50);
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
