-- A transaction's id begins with the second that it is drawn in, and ends in six digits of a counter.
-- A database that was restored from a backup goes on with an older counter, but in a later second: it
-- never gives a new purchase the id, and so the order, that a purchase after the backup had. Nobody has
-- to tell it that it was restored, which it cannot see. An id repeats only where a million are drawn in
-- one second, or where the clock is set back as well and meets the counter in the very same second.
ALTER SEQUENCE transaction_ids
    MINVALUE 0 MAXVALUE 999999 START WITH 0 RESTART WITH 0 CYCLE;

-- Seconds since 2020: 15 digits until 2051, 16 after it. Those from before this migration have 7.
CREATE FUNCTION next_transaction_id() RETURNS bigint
LANGUAGE sql VOLATILE
RETURN floor(extract(epoch FROM clock_timestamp()) - 1577836800)::bigint * 1000000
    + nextval('transaction_ids');

REVOKE ALL ON FUNCTION next_transaction_id() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION next_transaction_id() TO {role};
