-- Hosted content: one row for each version of a product's content. The bytes are a file that is
-- named by their SHA-256. The file is written before the row.
CREATE TABLE hosted_contents (
    product_id text COLLATE "C" NOT NULL,
    content_version text COLLATE "C" NOT NULL,
    length bigint NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    -- The time of withdrawal. New purchases do not get this version any more; transactions that
    -- name it can still download it.
    withdrawn_at timestamptz,
    CONSTRAINT a_version_is_one_content PRIMARY KEY (product_id, content_version),
    CONSTRAINT contents_have_bytes CHECK (length > 0),
    CONSTRAINT digests_are_sha256 CHECK (sha256 ~ '^[0-9a-f]{64}$')
);

-- The content that the product had when the transaction entered the queue as purchased or restored,
-- as JSON. It never changes afterwards.
ALTER TABLE queue_transactions ADD COLUMN contents json;

GRANT SELECT, INSERT ON hosted_contents TO counterfoil_fulfillment;
GRANT UPDATE (withdrawn_at) ON hosted_contents TO counterfoil_fulfillment;
GRANT UPDATE (contents) ON queue_transactions TO counterfoil_fulfillment;
