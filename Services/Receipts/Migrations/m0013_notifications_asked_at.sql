-- When a notification was asked for, by the machines' clock: the limit of tests in a minute must end
-- on a store clock that stands, too. It is null for all that nobody asked for.
ALTER TABLE notifications ADD COLUMN asked_at timestamptz;
