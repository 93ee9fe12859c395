-- Work that one process of a service does at a time. The leader holds an advisory lock; its term is
-- drawn in the session that holds the lock, so the highest term is the newest leader's. A leader
-- writes under its term: one that was stopped and wakes up after another has taken over changes
-- nothing any more.
CREATE TABLE leads (
    name text PRIMARY KEY,
    term bigint NOT NULL CHECK (term > 0),
    taken_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT, UPDATE ON leads TO SERVICE_ROLE;
