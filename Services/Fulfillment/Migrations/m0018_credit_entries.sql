-- Balances have a table of their own, and everything else looks entries up by their transaction. So
-- nothing reads the entries of an account, and each purchase wrote an entry of this index.
DROP INDEX credit_entries_by_account;
