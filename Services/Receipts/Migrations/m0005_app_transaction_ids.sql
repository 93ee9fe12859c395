-- Clients keep the signed id of an app transaction, as they keep that of a transaction. So it also
-- begins with the millisecond in which it is drawn (see m0007 of payments): a database that was
-- restored from a backup gives no account an id that another account got after the backup.
ALTER TABLE app_transactions ALTER COLUMN app_transaction_id DROP IDENTITY;

CREATE SEQUENCE app_transaction_ids MINVALUE 0 MAXVALUE 9999 START WITH 0 CYCLE;

-- 18 digits. Ids of transactions stay below 7 followed by 17 zeros.
ALTER TABLE app_transactions ALTER COLUMN app_transaction_id SET DEFAULT
    700000000000000000
    + floor(extract(epoch FROM clock_timestamp()) * 1000 - 1577836800000)::bigint * 10000
    + nextval('app_transaction_ids');

GRANT USAGE ON SEQUENCE app_transaction_ids TO counterfoil_receipts;
