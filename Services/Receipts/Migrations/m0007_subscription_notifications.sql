-- The time in the newest notification about a subscription. The next one is signed later, even if the store's
-- clock stands.
ALTER TABLE subscriptions ADD COLUMN notified_at timestamptz;

GRANT UPDATE (notified_at) ON subscriptions TO counterfoil_receipts;
