-- What a redemption of a code writes, beside the redemption itself.

-- A code's row is updated in its page, so the update adds nothing to the indexes. It needs room for that: pages
-- that are filled from now on leave it.
ALTER TABLE offer_codes SET (fillfactor = 80);
-- No row of `offer_codes` is ever deleted, and the payment has read the code in the same database transaction.
-- The check would lock the code's row once more, before the count does.
ALTER TABLE code_redemptions DROP CONSTRAINT code_redemptions_digest_fkey;
-- Only `counterfoil reconcile` joins by the digest, and it reads all of both tables.
DROP INDEX code_redemptions_of_code;
