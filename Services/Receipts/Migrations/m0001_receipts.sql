-- The certificate chains that sign receipts now or did so earlier. A new key or certificate chain
-- adds a row. Earlier receipts keep referring to their own row and stay valid.
CREATE TABLE signing_chains (
    number        integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    leaf_sha256   bytea NOT NULL,
    header        text NOT NULL,
    first_used_at timestamptz NOT NULL,
    CONSTRAINT a_leaf_has_one_chain UNIQUE (leaf_sha256),
    CONSTRAINT leaf_sha256_is_32_bytes CHECK (octet_length(leaf_sha256) = 32)
);

-- One receipt for each purchased or restored transaction, at its newest revision. The compact form
-- of a JWS is header.payload.signature; only the parts that differ between receipts are stored
-- here.
--
-- `signing_chain` is a number of `signing_chains`. It is not a foreign key: the service can neither
-- delete nor change rows of that table, and the check would cost a lookup for every receipt.
--
-- The row names its account by the number of the app transaction, not by two texts. `payload` is
-- packed: `PackedPayload` writes the name of each member as one byte.
CREATE TABLE signed_transactions (
    transaction_id          bigint NOT NULL,
    original_transaction_id bigint NOT NULL,
    app_transaction_id      bigint NOT NULL,
    -- The transaction's position in the history of its account. Each change moves it behind
    -- everything that changed before.
    history_position        bigint NOT NULL,
    purchased_at            timestamptz NOT NULL,
    revoked_at              timestamptz,
    signed_at               timestamptz NOT NULL,
    revision                integer NOT NULL,
    signing_chain           integer NOT NULL,
    reason                  text NOT NULL,
    product_id              text NOT NULL,
    product_type            text NOT NULL,
    -- The numbers of the refunds that are not reversed, and of those that are. A merchant's server
    -- is notified of each new number. NULL if there is none.
    standing_refunds        integer[],
    reversed_refunds        integer[],
    payload                 bytea NOT NULL,
    signature               bytea NOT NULL,
    CONSTRAINT a_transaction_has_one_receipt PRIMARY KEY (transaction_id),
    CONSTRAINT a_signature_is_64_bytes CHECK (octet_length(signature) = 64),
    CONSTRAINT a_receipt_is_signed_after_the_purchase CHECK (signed_at >= purchased_at)
);

-- The time at which a transaction was finished. This is a table of its own for two reasons. The
-- finish arrives on another topic than the purchase, and may come first when the topics are read
-- again from their beginning. And adding a row of 16 bytes is cheaper than writing a row of 1 KB
-- again.
CREATE TABLE transaction_finishes (
    transaction_id bigint NOT NULL,
    finished_at    timestamptz NOT NULL,
    CONSTRAINT a_transaction_is_finished_once PRIMARY KEY (transaction_id)
);

GRANT SELECT, INSERT ON signing_chains TO counterfoil_receipts;
GRANT SELECT, INSERT ON signed_transactions TO counterfoil_receipts;
GRANT UPDATE (history_position, revoked_at, standing_refunds, reversed_refunds, signed_at, revision,
        signing_chain, payload, signature)
    ON signed_transactions TO counterfoil_receipts;
GRANT SELECT, INSERT ON transaction_finishes TO counterfoil_receipts;
