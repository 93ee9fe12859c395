-- The store's clock, which only a sandbox sets, and the advances that were asked for.

-- An advance belongs to the key of its request, even after it has ended.
CREATE TABLE clock_advances (
    key text CONSTRAINT an_advance_is_begun_once PRIMARY KEY,
    -- What was asked for: so much further, or up to a time.
    by_ms bigint,
    to_time timestamptz,
    start_time timestamptz NOT NULL,
    target timestamptz NOT NULL,
    -- The rate at which the clock runs on from the target; NULL: it is frozen there.
    rate_after text,
    -- What fell due on the way, and was done: how many pieces of each kind of work.
    done json NOT NULL DEFAULT '{}',
    CONSTRAINT an_advance_has_one_amount CHECK (num_nonnulls(by_ms, to_time) = 1),
    CONSTRAINT an_advance_moves_forward CHECK (target > start_time)
);

-- One row, whose lock each change of the clock takes.
CREATE TABLE store_clock (
    id boolean PRIMARY KEY DEFAULT true CONSTRAINT a_store_has_one_clock CHECK (id),
    -- 0: the clock was never set.
    step bigint NOT NULL DEFAULT 0 CONSTRAINT clock_steps_count_from_zero CHECK (step >= 0),
    -- As its event says it.
    clock json NOT NULL DEFAULT '{"mode": "machines"}',
    -- The latest time at which the clock was changed or asked; NULL before the first.
    latest timestamptz,
    status text NOT NULL DEFAULT 'ready'
        CONSTRAINT clock_status_is_known CHECK (status IN ('ready', 'advancing', 'failed')),
    advance_key text REFERENCES clock_advances (key),
    failure text,
    -- The broker's log that the newest change was written for. If the broker loses that log, the
    -- change is published again, because every process reads the topic from its beginning.
    epoch integer NOT NULL DEFAULT 1,
    CONSTRAINT an_advance_is_named CHECK ((status = 'ready') = (advance_key IS NULL)),
    CONSTRAINT a_failure_has_a_reason CHECK ((status = 'failed') = (failure IS NOT NULL))
);

INSERT INTO store_clock DEFAULT VALUES;

GRANT SELECT, INSERT, UPDATE (done) ON clock_advances TO {role};
GRANT SELECT ON store_clock TO {role};
GRANT UPDATE (step, clock, latest, status, advance_key, failure, epoch) ON store_clock TO {role};
