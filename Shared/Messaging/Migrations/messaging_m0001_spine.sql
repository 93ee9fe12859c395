-- The spine of every service: its published events, what it has consumed, and what it could not
-- consume. SERVICE_ROLE is the role of the running service. It owns nothing and gets only the
-- rights it needs.

REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO SERVICE_ROLE;

-- The outbox is the event log. It is insert-only, and its order is (xid, position).
--
-- `xid` is `outbox_base` plus the number of the row's database transaction, or plus the newest
-- number that had ended when the row was appended, if that is higher. So no later commit can add a
-- row before those that lie below the oldest running database transaction. And of two database
-- transactions that change the same key, the one that waited for the other's lock comes later, even
-- if its own number is lower: the number was drawn before the wait, and the row is appended after
-- it.
CREATE FUNCTION outbox_xid() RETURNS xid8
LANGUAGE sql VOLATILE SET search_path = pg_catalog AS $$
    SELECT greatest(
        pg_current_xact_id(),
        (pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1)::text::xid8
    )
$$;

-- The number that is added to `outbox_xid` in the places of events, so that no place is given
-- twice.
--
-- A server that was restored from a backup counts its transactions from the number in the backup.
-- It would give new events the places of those that were lost, and consumers would take them for
-- events that they have applied. Therefore the first append after each start of the server raises
-- the base, so that its place is the present microsecond. Numbers of transactions grow more slowly
-- than microseconds. So a later place is higher than all earlier ones, even those that this
-- database does not know.
CREATE TABLE outbox_base (
    is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
    base bigint NOT NULL DEFAULT 0,
    server_started_at timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO outbox_base DEFAULT VALUES;
GRANT SELECT, UPDATE ON outbox_base TO SERVICE_ROLE;

-- The first part of the places of the rows that this statement appends.
CREATE FUNCTION outbox_place() RETURNS xid8
LANGUAGE plpgsql VOLATILE SET search_path = public, pg_temp AS $$
DECLARE
    added bigint;
BEGIN
    SELECT base INTO added FROM outbox_base WHERE server_started_at = pg_postmaster_start_time();
    IF NOT FOUND THEN
        -- Simultaneous appends wait here until this one commits. Then they find nothing to raise.
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

-- The place below which no row can appear any more, because every database transaction that could
-- append one there has ended.
CREATE FUNCTION outbox_settled() RETURNS xid8
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT (base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint)::text::xid8
    FROM outbox_base
$$;

-- Unpacks a document that services stored packed (`PackedJSON`). Each of the first 29 texts is
-- stored as a control character, and each of the others as U+001E and a printable character. A
-- document after U+001F is stored as it is. This function is for operators and reconciliation;
-- services unpack documents themselves.
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

-- Holds events whose month has no partition yet, and those of a month that was archived.
CREATE TABLE outbox_default PARTITION OF outbox DEFAULT;

GRANT SELECT, INSERT ON outbox TO SERVICE_ROLE;
GRANT USAGE ON SEQUENCE outbox_positions TO SERVICE_ROLE;

-- How far the relay has published, and how far every consumer has confirmed. The epoch is the
-- number of the broker's log; it rises when the broker has lost its log. There is one row.
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

-- The newest offset that the broker has reported for each partition. A lower one shows that the log
-- was lost.
CREATE TABLE relay_offsets (
    topic text NOT NULL,
    partition integer NOT NULL,
    last_offset bigint NOT NULL,
    PRIMARY KEY (topic, partition)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON relay_offsets TO SERVICE_ROLE;

-- The newest event of each event chain: the newest that this service has published, and the newest
-- that every consumer has confirmed. An event chain is the events of a topic whose keys fall into
-- one slot. Each event names the one before it in its chain, so a consumer notices a missing one.
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

-- How far each consumer has come. Every event of a chain up to this place in its producer's log was
-- applied or is a dead letter. The row is written in the database transaction of the effect.
CREATE TABLE consumer_places (
    consumer text NOT NULL,
    topic text NOT NULL,
    chain text NOT NULL,
    xid xid8 NOT NULL DEFAULT '0',
    position bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (consumer, topic, chain)
) WITH (fillfactor = 50);
GRANT SELECT, INSERT, UPDATE ON consumer_places TO SERVICE_ROLE;

-- The offset from which each consumer reads a partition next, and in which of the broker's logs.
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

-- Events that a consumer could not apply ('dead'), and later events of the same key that wait
-- behind them ('parked'). A redrive applies both in order.
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
