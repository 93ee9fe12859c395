-- Digests of bytes that are being stored and have no version yet. All uploads of the same bytes
-- share one row. It is written before the bytes are stored, and removed when their version is
-- recorded. A row that has expired names the bytes that a failed upload may have left.
CREATE TABLE content_uploads (
    sha256 text COLLATE "C" PRIMARY KEY,
    -- Distinguishes this row from an earlier one of the same digest.
    number bigint GENERATED ALWAYS AS IDENTITY,
    lease_ends_at timestamptz NOT NULL,
    -- Whether the bytes are being removed. Until they are gone, no upload stores them again.
    is_removing boolean NOT NULL DEFAULT false,
    CONSTRAINT digests_are_sha256 CHECK (sha256 ~ '^[0-9a-f]{64}$')
);

CREATE INDEX hosted_contents_by_digest ON hosted_contents (sha256);

GRANT SELECT, INSERT, DELETE ON content_uploads TO counterfoil_fulfillment;
GRANT UPDATE (lease_ends_at, is_removing) ON content_uploads TO counterfoil_fulfillment;
