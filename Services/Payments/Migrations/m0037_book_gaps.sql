-- Times of which the books may lack what the processor did, because the database was restored from a backup.

-- One row. A new store has none until an instance writes it.
CREATE TABLE book_memory (
    one boolean PRIMARY KEY DEFAULT true CONSTRAINT there_is_one_memory CHECK (one),
    -- The newest time at which an instance wrote here, by the machines' clock. After a restore it is that
    -- of the backup.
    seen_at timestamptz NOT NULL,
    -- The last gap: its beginning by the machines' clock, and its end by the store's clock. NULL if there
    -- was none.
    gap_began_at timestamptz,
    gap_ended_at timestamptz,
    CONSTRAINT a_gap_has_two_ends CHECK ((gap_began_at IS NULL) = (gap_ended_at IS NULL))
);

GRANT SELECT, INSERT ON book_memory TO {role};
GRANT UPDATE (seen_at, gap_began_at, gap_ended_at) ON book_memory TO {role};

-- The lost attempts that were found at the processor, each with the transaction that has it now. None is
-- taken over twice, even if its charge was given back.
CREATE TABLE found_attempts (
    attempt_id uuid PRIMARY KEY,
    transaction_id bigint NOT NULL
);

GRANT SELECT, INSERT ON found_attempts TO {role};

-- The time from which on the processor may have charged for the same period by an attempt that the books
-- have lost. NULL if they have lost none, or once the processor was asked.
ALTER TABLE processor_attempts ADD COLUMN doubted_since timestamptz;
-- The attempt then takes the id of the lost one.
GRANT UPDATE (attempt_id, doubted_since) ON processor_attempts TO {role};
