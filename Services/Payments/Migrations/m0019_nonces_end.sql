-- Nonces of promotional offers are deleted once their signatures cannot be used any more.

-- The machines' time from which the signature is too old. NULL for nonces from before this migration, which
-- stay.
ALTER TABLE offer_nonces ADD COLUMN ends_at timestamptz;
CREATE INDEX offer_nonces_end ON offer_nonces (ends_at);
GRANT DELETE ON offer_nonces TO {role};
