-- What tests have a sandbox do with accounts. A store in production has no rows here.

CREATE TABLE test_settings (
    account_id text NOT NULL,
    bundle_id text NOT NULL,
    -- As administrators send them.
    settings json NOT NULL,
    PRIMARY KEY (account_id, bundle_id)
);

GRANT SELECT, INSERT ON test_settings TO {role};
GRANT UPDATE (settings) ON test_settings TO {role};
