-- The id of an app transaction is signed and kept by clients, as a transaction's is. So it begins with
-- the millisecond that it is drawn in, too (payments m0007): a database that was restored from a backup does
-- not give one account the id that another had after the backup.
ALTER TABLE app_transactions ALTER COLUMN app_transaction_id DROP IDENTITY;

CREATE SEQUENCE app_transaction_ids MINVALUE 0 MAXVALUE 9999 START WITH 0 CYCLE;

-- 18 digits, and no transaction's: those stay below 7 with 17 zeros.
ALTER TABLE app_transactions ALTER COLUMN app_transaction_id SET DEFAULT
    700000000000000000
    + floor(extract(epoch FROM clock_timestamp()) * 1000 - 1577836800000)::bigint * 10000
    + nextval('app_transaction_ids');

GRANT USAGE ON SEQUENCE app_transaction_ids TO counterfoil_receipts;
