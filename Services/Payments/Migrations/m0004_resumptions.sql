-- The transaction that resumed an interrupted payment: only one, no matter how many requests ask
-- for it.

CREATE TABLE resumptions (
    failed_id bigint PRIMARY KEY,
    transaction_id bigint NOT NULL CONSTRAINT a_transaction_resumes_one UNIQUE,
    created_at timestamptz NOT NULL
);

GRANT SELECT, INSERT ON resumptions TO {role};
