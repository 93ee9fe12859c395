-- Families: accounts of one app that share what they buy.

CREATE TABLE families (
    -- A UUID of version 7, so that ids are in the order of time.
    id text NOT NULL PRIMARY KEY,
    bundle_id text NOT NULL,
    version integer NOT NULL CONSTRAINT family_version_counts_from_one CHECK (version >= 1),
    -- The whole family, as in its events. Every change locks the row first.
    data json NOT NULL
);

-- The members of families that have not ended, of whom each account is one at most.
CREATE TABLE family_members (
    account_id text NOT NULL,
    bundle_id text NOT NULL,
    family_id text NOT NULL REFERENCES families (id),
    is_sharing boolean NOT NULL,
    CONSTRAINT an_account_is_in_one_family PRIMARY KEY (account_id, bundle_id)
);
CREATE INDEX family_members_of_family ON family_members (family_id);

GRANT SELECT, INSERT ON families TO {role};
GRANT UPDATE (version, data) ON families TO {role};
GRANT SELECT, INSERT, DELETE ON family_members TO {role};
