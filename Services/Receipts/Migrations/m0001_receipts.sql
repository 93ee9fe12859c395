-- The certificate chains that receipts are or were signed with. A key or chain that is replaced
-- adds a row; receipts signed before keep pointing at theirs and stay valid.
CREATE TABLE signing_chains (
    number        integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    leaf_sha256   bytea NOT NULL,
    header        text NOT NULL,
    first_used_at timestamptz NOT NULL,
    CONSTRAINT a_leaf_has_one_chain UNIQUE (leaf_sha256),
    CONSTRAINT leaf_sha256_is_32_bytes CHECK (octet_length(leaf_sha256) = 32)
);

-- One receipt for each purchased or restored transaction, at its newest revision. The compact form
-- is header.payload.signature; only what differs between receipts is stored here.
--
-- signing_chain is a number of signing_chains. It is no foreign key: rows of that table can be
-- neither deleted nor changed by the service, and the check would cost a lookup for every receipt.
--
-- The row names its account by the app transaction, which is a number, and not by two texts. `payload`
-- is packed: PackedPayload writes each name of a member as one byte.
CREATE TABLE signed_transactions (
    transaction_id          bigint NOT NULL,
    original_transaction_id bigint NOT NULL,
    app_transaction_id      bigint NOT NULL,
    -- The position of the transaction in its account's history: behind everything that changed
    -- before it changed last.
    history_position        bigint NOT NULL,
    purchased_at            timestamptz NOT NULL,
    revoked_at              timestamptz,
    signed_at               timestamptz NOT NULL,
    revision                integer NOT NULL,
    signing_chain           integer NOT NULL,
    reason                  text NOT NULL,
    product_id              text NOT NULL,
    product_type            text NOT NULL,
    -- The numbers of the refunds that are not reversed, and of those that are. A new number is what
    -- a merchant's server is notified of. NULL if there is none.
    standing_refunds        integer[],
    reversed_refunds        integer[],
    payload                 bytea NOT NULL,
    signature               bytea NOT NULL,
    CONSTRAINT a_transaction_has_one_receipt PRIMARY KEY (transaction_id),
    CONSTRAINT a_signature_is_64_bytes CHECK (octet_length(signature) = 64),
    CONSTRAINT a_receipt_is_signed_after_the_purchase CHECK (signed_at >= purchased_at)
);

-- When a transaction was finished. A table of its own, because the finish travels in another topic
-- than the purchase and may come first when the topics are read again from their start, and because
-- a row of 16 bytes added is cheaper than a row of 1 KB written again.
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
