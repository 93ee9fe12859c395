-- What keeps the log of notifications quick to read and bounded.

-- How far the log had come at a moment, so that a question about a time does not read what is before
-- it: numbers of database transactions, as `notifications.xid` has them.
CREATE TABLE notification_marks (
    at             timestamptz PRIMARY KEY,
    -- Every database transaction before this one had ended.
    settled_before xid8 NOT NULL,
    -- No database transaction from this one on had begun.
    begun_before   xid8 NOT NULL
);

-- Purchases are nearly all of the log: it is itself the index of them.
CREATE INDEX notifications_of_kind ON notifications (bundle_id, type, xid, position)
    WHERE type <> 'ONE_TIME_CHARGE';
-- With notifications_once, everything about one transaction.
CREATE INDEX notifications_asked_for ON notifications (transaction_id, xid, position)
    WHERE is_asked_for;

GRANT SELECT, INSERT, DELETE ON notification_marks TO counterfoil_receipts;
-- What is older than the history goes back.
GRANT DELETE ON notifications, notification_attempts TO counterfoil_receipts;
