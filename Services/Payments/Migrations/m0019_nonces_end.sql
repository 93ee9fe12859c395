-- Nonces of promotional offers are deleted once their signatures cannot be used any more.

-- The machines' time from which the signature is too old. NULL for nonces from before this migration, which
-- stay.
ALTER TABLE offer_nonces ADD COLUMN ends_at timestamptz;
CREATE INDEX offer_nonces_end ON offer_nonces (ends_at);
-- Rows that are deleted are locked first, which needs the right to update a column.
GRANT UPDATE (ends_at), DELETE ON offer_nonces TO {role};
GRANT UPDATE (ends_at) ON redemption_tickets TO {role};
