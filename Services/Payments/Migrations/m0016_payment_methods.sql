-- What buyers have saved at the payment processor: tokens, never card numbers.

-- The buyer of an account at the processor. The row comes before the call that makes the buyer there.
CREATE TABLE processor_customers (
    account_id text NOT NULL,
    bundle_id text NOT NULL,
    -- The idempotency key of the call.
    customer_key uuid NOT NULL,
    -- The processor's own id. NULL until it has answered.
    reference text CONSTRAINT a_customer_is_one_account UNIQUE,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, bundle_id)
);

-- One row for each payment method that an account may pay with.
CREATE TABLE payment_methods (
    -- The processor's token, which payments name.
    token text PRIMARY KEY,
    account_id text NOT NULL,
    bundle_id text NOT NULL,
    -- What a buyer recognises a card by.
    brand text NOT NULL,
    last_four text NOT NULL CONSTRAINT four_digits_and_no_more CHECK (last_four ~ '^[0-9]{4}$'),
    expiry_month integer NOT NULL,
    expiry_year integer NOT NULL,
    -- The processor's id of the buyer's agreement to be charged while they are away.
    mandate text NOT NULL,
    saved_at timestamptz NOT NULL,
    FOREIGN KEY (account_id, bundle_id) REFERENCES processor_customers
);

CREATE INDEX payment_methods_by_account ON payment_methods (account_id, bundle_id);

GRANT SELECT, INSERT ON processor_customers, payment_methods TO {role};
GRANT UPDATE (customer_key, reference) ON processor_customers TO {role};
