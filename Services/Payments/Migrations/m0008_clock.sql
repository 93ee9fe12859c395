-- The store's clock, which only a sandbox sets, and the advances that were requested.

-- An advance belongs to the key of its request, even after it has ended.
CREATE TABLE clock_advances (
    key text CONSTRAINT an_advance_is_begun_once PRIMARY KEY,
    -- The requested amount: by a span of time, or to a time.
    by_ms bigint,
    to_time timestamptz,
    start_time timestamptz NOT NULL,
    target timestamptz NOT NULL,
    -- The rate at which the clock continues from the target. NULL if it stays frozen there.
    rate_after text,
    -- The work that fell due on the way and was done: the count of each kind.
    done json NOT NULL DEFAULT '{}',
    CONSTRAINT an_advance_has_one_amount CHECK (num_nonnulls(by_ms, to_time) = 1),
    CONSTRAINT an_advance_moves_forward CHECK (target > start_time)
);

-- A single row. Every change of the clock locks it.
CREATE TABLE store_clock (
    id boolean PRIMARY KEY DEFAULT true CONSTRAINT a_store_has_one_clock CHECK (id),
    -- 0 if the clock was never set.
    step bigint NOT NULL DEFAULT 0 CONSTRAINT clock_steps_count_from_zero CHECK (step >= 0),
    -- The clock as its event carries it.
    clock json NOT NULL DEFAULT '{"mode": "machines"}',
    -- The latest time at which the clock was changed or read; NULL before the first.
    latest timestamptz,
    status text NOT NULL DEFAULT 'ready'
        CONSTRAINT clock_status_is_known CHECK (status IN ('ready', 'advancing', 'failed')),
    advance_key text REFERENCES clock_advances (key),
    failure text,
    -- The broker's log for which the newest change was written. If the broker loses that log, the
    -- change is published again, because every process reads the topic from its beginning.
    epoch integer NOT NULL DEFAULT 1,
    CONSTRAINT an_advance_is_named CHECK ((status = 'ready') = (advance_key IS NULL)),
    CONSTRAINT a_failure_has_a_reason CHECK ((status = 'failed') = (failure IS NOT NULL))
);

INSERT INTO store_clock DEFAULT VALUES;

GRANT SELECT, INSERT, UPDATE (done) ON clock_advances TO {role};
GRANT SELECT ON store_clock TO {role};
GRANT UPDATE (step, clock, latest, status, advance_key, failure, epoch) ON store_clock TO {role};
