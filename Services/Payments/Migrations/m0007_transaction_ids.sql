-- A transaction's id begins with the millisecond in which it is drawn, and ends with four digits of
-- a counter. A database that was restored from a backup continues with an older counter, but at a
-- later time. So a new purchase never gets the id, or the place in the order, of a purchase that
-- was lost. Nobody has to tell the database that it was restored; it cannot notice that itself. An
-- id repeats only if ten thousand are drawn in one millisecond, or if the clock is also set back
-- and the counter has the same value in the same millisecond.
ALTER SEQUENCE transaction_ids
    MINVALUE 0 MAXVALUE 9999 START WITH 0 RESTART WITH 0 CYCLE;

-- Milliseconds since 2020: 16 digits until 2051, then 17. Ids from before this migration have 7.
CREATE FUNCTION next_transaction_id() RETURNS bigint
LANGUAGE sql VOLATILE
RETURN floor(extract(epoch FROM clock_timestamp()) * 1000 - 1577836800000)::bigint * 10000
    + nextval('transaction_ids');

REVOKE ALL ON FUNCTION next_transaction_id() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION next_transaction_id() TO {role};
