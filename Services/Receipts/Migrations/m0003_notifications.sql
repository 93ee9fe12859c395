-- App Store Server Notifications to merchants' servers.

-- The address at which an app's server is notified. An app without a row is not notified.
CREATE TABLE notification_endpoints (
    bundle_id  text PRIMARY KEY,
    url        text NOT NULL,
    host       text NOT NULL,
    changed_at timestamptz NOT NULL
);

-- A notification. It is signed once, and sent until it is confirmed or no tries are left. If the
-- transaction in the payload is signed with the same certificate chain, `payload` holds the byte
-- 0x01, which occurs in no JSON, in place of the transaction's header of 3 KB.
CREATE TABLE notifications (
    position        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    xid             xid8 NOT NULL DEFAULT outbox_xid(),
    id              uuid NOT NULL CONSTRAINT a_notification_has_an_id UNIQUE,
    bundle_id       text NOT NULL,
    type            text NOT NULL,
    subtype         text,
    transaction_id  bigint,
    -- The number of the refund, for events that can happen to a transaction several times.
    occurrence      integer NOT NULL DEFAULT 0,
    is_asked_for    boolean NOT NULL,
    signed_at       timestamptz NOT NULL,
    signing_chain   integer NOT NULL,
    payload         bytea NOT NULL,
    signature       bytea NOT NULL,
    state           text NOT NULL DEFAULT 'pending'
        CONSTRAINT a_notification_is_pending_confirmed_or_given_up
            CHECK (state IN ('pending', 'confirmed', 'given_up')),
    attempts        integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz,
    CONSTRAINT a_pending_notification_is_due CHECK ((state = 'pending') = (next_attempt_at IS NOT NULL)),
    CONSTRAINT a_notification_s_signature_is_64_bytes CHECK (octet_length(signature) = 64)
);

-- Each change of a transaction is notified once, no matter how often its events arrive.
CREATE UNIQUE INDEX notifications_once ON notifications (transaction_id, type, occurrence)
    WHERE NOT is_asked_for;
CREATE INDEX notifications_due ON notifications (bundle_id, next_attempt_at, position)
    WHERE state = 'pending';
CREATE INDEX notifications_of_app ON notifications (bundle_id, xid, position);

-- Each try, and how it ended.
CREATE TABLE notification_attempts (
    notification_id uuid NOT NULL,
    attempt         integer NOT NULL,
    attempted_at    timestamptz NOT NULL,
    result          text NOT NULL,
    CONSTRAINT a_try_ends_once PRIMARY KEY (notification_id, attempt)
);

-- A merchant's newest information about a purchase whose refund was requested.
CREATE TABLE consumptions (
    transaction_id bigint PRIMARY KEY,
    received_at    timestamptz NOT NULL,
    document       jsonb NOT NULL
);

GRANT SELECT, INSERT, UPDATE, DELETE ON notification_endpoints TO counterfoil_receipts;
GRANT SELECT, INSERT ON notifications TO counterfoil_receipts;
GRANT UPDATE (state, attempts, next_attempt_at) ON notifications TO counterfoil_receipts;
GRANT SELECT, INSERT ON notification_attempts TO counterfoil_receipts;
GRANT SELECT, INSERT, UPDATE ON consumptions TO counterfoil_receipts;
