-- LogSealer: SealedLedgerStore, SealStore.
BEGIN;
SELECT posting.xid, posting.position, posting.id, posting.transaction_id, posting.kind,
    posting.posted_at, entry.entry_number, entry.account, entry.amount, entry.currency
FROM (
    SELECT xid, position, id, transaction_id, kind, posted_at FROM ledger_postings
    WHERE (xid, position) > (:sealed_xid::text::xid8, :sealed_position::bigint)
        AND xid < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY xid, position LIMIT :n::int
) AS posting
LEFT JOIN LATERAL (
    SELECT * FROM ledger_entries WHERE posting_id = posting.id
) AS entry ON true
ORDER BY posting.xid, posting.position, entry.entry_number \aset sealed_
INSERT INTO log_seals (log, month, number, follows_month, follows_number, first_xid,
    first_position, last_xid, last_position, row_count, marks, digest)
SELECT 'ledger', to_char(now(), 'YYYY-MM'), coalesce(max(number), 0) + 1, NULL, NULL, '0', 0,
    :sealed_xid::text::xid8, :sealed_position::bigint, :n::int,
    decode(repeat('5ea1ab1e5ea1ab1e', :n::int), 'hex'), sha256('sealed')
FROM log_seals WHERE log = 'ledger' AND month = to_char(now(), 'YYYY-MM');
COMMIT;
