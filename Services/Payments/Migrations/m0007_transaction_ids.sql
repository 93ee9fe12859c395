-- A transaction's id begins with the millisecond that it is drawn in, and ends in four digits of a counter.
-- A database that was restored from a backup goes on with an older counter, but later: it never gives
-- a new purchase the id, and so the order, that a purchase after the backup had. Nobody has to tell it
-- that it was restored, which it cannot see. An id repeats only where ten thousand are drawn in one
-- millisecond, or where the clock is set back as well and meets the counter in the very same one.
ALTER SEQUENCE transaction_ids
    MINVALUE 0 MAXVALUE 9999 START WITH 0 RESTART WITH 0 CYCLE;

-- Milliseconds since 2020: 16 digits until 2051, 17 after it. Those from before this migration have 7.
CREATE FUNCTION next_transaction_id() RETURNS bigint
LANGUAGE sql VOLATILE
RETURN floor(extract(epoch FROM clock_timestamp()) * 1000 - 1577836800000)::bigint * 10000
    + nextval('transaction_ids');

REVOKE ALL ON FUNCTION next_transaction_id() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION next_transaction_id() TO {role};
