-- Marks and indexes that keep the log of notifications bounded and quick to read.

-- How far the log had come at some moments, so that a query for a time does not read what came
-- before it. The values are numbers of database transactions, as in `notifications.xid`.
CREATE TABLE notification_marks (
    at             timestamptz PRIMARY KEY,
    -- Every database transaction before this one had ended.
    settled_before xid8 NOT NULL,
    -- No database transaction from this one on had begun.
    begun_before   xid8 NOT NULL
);

-- Everything but purchases. Purchases are nearly the whole log, so they need no index of their own.
CREATE INDEX notifications_of_kind ON notifications (bundle_id, type, xid, position)
    WHERE type <> 'ONE_TIME_CHARGE';
-- Together with `notifications_once`, this finds everything about one transaction.
CREATE INDEX notifications_asked_for ON notifications (transaction_id, xid, position)
    WHERE is_asked_for;

GRANT SELECT, INSERT, DELETE ON notification_marks TO counterfoil_receipts;
-- Notifications that are older than the history reaches back.
GRANT DELETE ON notifications, notification_attempts TO counterfoil_receipts;
