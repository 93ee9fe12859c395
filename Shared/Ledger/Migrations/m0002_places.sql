-- Each posting gets a place in commit order, as events have, so that the ledger can be sealed like
-- the event log. A seal (`log_seals`) is a digest over postings with their entries and over the
-- seal before it. Existing postings get places in their present order.
CREATE SEQUENCE ledger_positions;
GRANT USAGE ON SEQUENCE ledger_positions TO {role};

ALTER TABLE ledger_postings
    ADD COLUMN position bigint NOT NULL DEFAULT nextval('ledger_positions'),
    ADD COLUMN xid xid8 NOT NULL DEFAULT outbox_xid();

CREATE INDEX ledger_postings_in_commit_order ON ledger_postings (xid, position);
