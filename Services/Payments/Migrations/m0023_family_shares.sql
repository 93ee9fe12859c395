-- What the members of families get of each other's purchases.

ALTER TABLE transactions DROP CONSTRAINT reason_is_known;
ALTER TABLE transactions ADD CONSTRAINT reason_is_known
    CHECK (reason IN ('purchase', 'renewal', 'restore', 'ownedAgain', 'familyShared'));

-- The purchase of another member that a transaction shares. NULL for an account's own purchases.
ALTER TABLE transactions ADD COLUMN shared_from bigint;
ALTER TABLE transactions ADD CONSTRAINT a_share_has_a_purchase
    CHECK (reason <> 'familyShared' OR shared_from IS NOT NULL);

-- A member has a purchase of another one once, until it is taken away.
CREATE UNIQUE INDEX transactions_shared_once ON transactions (shared_from, account_id)
    WHERE reason = 'familyShared' AND revoked_at IS NULL;

-- Members whose shares have to be looked at, because a purchase of theirs has changed, or their family
-- has. Only rows are added: a purchase never waits here for the sharing of another one.
CREATE TABLE family_work (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id text NOT NULL,
    bundle_id text NOT NULL
);

GRANT SELECT, INSERT, UPDATE, DELETE ON family_work TO {role};
