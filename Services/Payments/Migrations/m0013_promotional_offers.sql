-- Promotional offers: a signed offer can be used by one payment of its app.

-- The nonces of signed offers, each with the payment that used it. A payment that fails has used it too: the
-- merchant's server signs again.
CREATE TABLE offer_nonces (
    bundle_id text NOT NULL,
    nonce uuid NOT NULL,
    transaction_id bigint NOT NULL,
    used_at timestamptz NOT NULL,
    CONSTRAINT offer_nonces_pkey PRIMARY KEY (bundle_id, nonce)
);
GRANT SELECT, INSERT ON offer_nonces TO {role};
