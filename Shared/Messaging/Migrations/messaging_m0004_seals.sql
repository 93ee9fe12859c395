-- Tamper evidence: the relay seals the rows that it publishes, and each seal's digest is over the one
-- before it of its month, so that a log that somebody has edited or cut is no longer what its seals
-- say. A month's first seal follows the newest of the log, so that no whole month can go unseen.
CREATE TABLE log_seals (
    -- 'outbox', or another table of the service that is sealed.
    log text NOT NULL,
    month text NOT NULL CHECK (month ~ '^[0-9]{4,}-[0-9]{2}$'),
    number bigint NOT NULL CHECK (number > 0),
    -- The seal whose digest went into this one's; none for the first of a log.
    follows_month text,
    follows_number bigint,
    first_xid xid8 NOT NULL,
    first_position bigint NOT NULL,
    last_xid xid8 NOT NULL,
    last_position bigint NOT NULL,
    row_count integer NOT NULL CHECK (row_count > 0),
    -- The first bytes of each row's digest: which row it is that was changed.
    marks bytea NOT NULL,
    digest bytea NOT NULL CHECK (length(digest) = 32),
    sealed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (log, month, number)
);
-- Digests do not compress.
ALTER TABLE log_seals ALTER COLUMN marks SET STORAGE EXTERNAL;
GRANT SELECT, INSERT ON log_seals TO SERVICE_ROLE;
