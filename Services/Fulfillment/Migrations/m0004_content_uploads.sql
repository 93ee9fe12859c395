-- Bytes that are about to be stored under a digest and are not on record yet: one row for all
-- uploads of the same bytes, written before they are stored and removed with the row that they are
-- for. A row whose time has run out names what a failed upload may have left.
CREATE TABLE content_uploads (
    sha256 text COLLATE "C" PRIMARY KEY,
    -- Tells a row from an earlier one of the same digest.
    number bigint GENERATED ALWAYS AS IDENTITY,
    lease_ends_at timestamptz NOT NULL,
    -- Whether the bytes are being removed; until that is over nobody stores them again.
    is_removing boolean NOT NULL DEFAULT false,
    CONSTRAINT digests_are_sha256 CHECK (sha256 ~ '^[0-9a-f]{64}$')
);

CREATE INDEX hosted_contents_by_digest ON hosted_contents (sha256);

GRANT SELECT, INSERT, DELETE ON content_uploads TO counterfoil_fulfillment;
GRANT UPDATE (lease_ends_at, is_removing) ON content_uploads TO counterfoil_fulfillment;
