-- Each renewal writes its subscription, and no index reads what it writes. With some free space in the
-- page, PostgreSQL puts the new version into the page of the old one and leaves the indexes as they are.
ALTER TABLE subscriptions SET (fillfactor = 80);
