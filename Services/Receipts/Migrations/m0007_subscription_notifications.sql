-- The date of the newest notification about a subscription. The next notification gets a later
-- date, even while the store's clock is frozen.
ALTER TABLE subscriptions ADD COLUMN notified_at timestamptz;

GRANT UPDATE (notified_at) ON subscriptions TO counterfoil_receipts;
