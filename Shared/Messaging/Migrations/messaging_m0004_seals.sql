-- Tamper evidence. The relay seals the rows that it publishes. The digest of each seal covers the
-- seal before it in the same month, so a log that was edited or cut no longer agrees with its
-- seals. The first seal of a month follows the newest seal of the log, so a missing month is
-- noticed.
CREATE TABLE log_seals (
    -- 'outbox', or another sealed table of the service.
    log text NOT NULL,
    month text NOT NULL CHECK (month ~ '^[0-9]{4,}-[0-9]{2}$'),
    number bigint NOT NULL CHECK (number > 0),
    -- The seal whose digest this one covers. The first seal of a log has none.
    follows_month text,
    follows_number bigint,
    first_xid xid8 NOT NULL,
    first_position bigint NOT NULL,
    last_xid xid8 NOT NULL,
    last_position bigint NOT NULL,
    row_count integer NOT NULL CHECK (row_count > 0),
    -- The first bytes of each row's digest. They show which row was changed.
    marks bytea NOT NULL,
    digest bytea NOT NULL CHECK (length(digest) = 32),
    sealed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (log, month, number)
);
-- Digests do not compress.
ALTER TABLE log_seals ALTER COLUMN marks SET STORAGE EXTERNAL;
GRANT SELECT, INSERT ON log_seals TO SERVICE_ROLE;
