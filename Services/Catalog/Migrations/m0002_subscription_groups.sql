-- The names of subscription groups. A group without a name has no row. `subscription_group` holds
-- the current version as it is published.
CREATE TABLE subscription_groups (
    id text NOT NULL PRIMARY KEY,
    version bigint NOT NULL,
    subscription_group json NOT NULL,
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL,
    CONSTRAINT group_versions_count_from_one CHECK (version >= 1),
    CONSTRAINT group_is_the_one_of_its_row CHECK (
        subscription_group ->> 'id' = id
        AND (subscription_group ->> 'version')::bigint = version
    )
);

-- Every version of every group's names, including the current one.
CREATE TABLE subscription_group_versions (
    group_id text NOT NULL REFERENCES subscription_groups (id),
    version bigint NOT NULL,
    subscription_group json NOT NULL,
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (group_id, version)
);

-- Groups are never deleted, and their ids never change. The table of versions is insert-only.
GRANT SELECT, INSERT ON subscription_groups TO counterfoil_catalog;
GRANT UPDATE (version, subscription_group, changed_by, changed_at) ON subscription_groups
    TO counterfoil_catalog;
GRANT SELECT, INSERT ON subscription_group_versions TO counterfoil_catalog;
