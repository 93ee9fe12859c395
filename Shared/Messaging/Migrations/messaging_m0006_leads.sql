-- Work that one process of a service does at a time. The leader holds an advisory lock and draws
-- its term in the session that holds it, so the newest leader has the highest term. A leader writes
-- under its term. A leader that was stopped, and continues after another has taken over, can change
-- nothing.
CREATE TABLE leads (
    name text PRIMARY KEY,
    term bigint NOT NULL CHECK (term > 0),
    taken_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT, UPDATE ON leads TO SERVICE_ROLE;
