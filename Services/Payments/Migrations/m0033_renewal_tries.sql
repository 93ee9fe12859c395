-- A renewal that is paid leaves the indexes of its transaction as they are.

-- The identity of the try to renew; NULL for every other transaction. The period gets its dates once it
-- is paid, and an index on an expression over the period would get a new entry then, and so would all
-- other indexes of the table. PostgreSQL compares this column instead, which stays as it is.
ALTER TABLE transactions ADD COLUMN renewal_charge text
    GENERATED ALWAYS AS (subscription ->> 'charge') STORED;
DROP INDEX a_renewal_is_tried_once;
CREATE UNIQUE INDEX a_renewal_is_tried_once ON transactions (renewal_charge)
    WHERE renewal_charge IS NOT NULL;

-- Each renewal writes its subscription twice. With some free space in the page, the new version is in
-- the page of the old one, and the old one makes room for the next.
ALTER TABLE subscriptions SET (fillfactor = 80);
