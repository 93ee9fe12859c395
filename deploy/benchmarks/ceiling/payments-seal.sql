-- LogSealer: SealedLedgerStore, SealStore.
BEGIN;
SELECT xid, position, id, transaction_id, kind, number, posted_at, currency, accounts, amounts
FROM ledger_postings
WHERE (xid, position) > (:sealed_xid::text::xid8, :sealed_position::bigint)
    AND xid < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY xid, position LIMIT :n::int \aset sealed_
INSERT INTO log_seals (log, month, number, follows_month, follows_number, first_xid,
    first_position, last_xid, last_position, row_count, marks, digest)
SELECT 'ledger', to_char(now(), 'YYYY-MM'), coalesce(max(number), 0) + 1, NULL, NULL, '0', 0,
    :sealed_xid::text::xid8, :sealed_position::bigint, :n::int,
    decode(repeat('5ea1ab1e5ea1ab1e', :n::int), 'hex'), sha256('sealed')
FROM log_seals WHERE log = 'ledger' AND month = to_char(now(), 'YYYY-MM');
COMMIT;
