-- What the payment processor says of the store's balance there, in each currency.
-- `counterfoil reconcile` compares it with the ledger's account of it.

CREATE TABLE processor_balances (
    currency text PRIMARY KEY,
    -- The balance, in minor units.
    amount bigint NOT NULL,
    -- The part of it that was there before the movements of the store's list.
    opening bigint NOT NULL,
    -- The number of the newest movement that the balance contains.
    movement_number integer NOT NULL,
    read_at timestamptz NOT NULL
);

GRANT SELECT, INSERT ON processor_balances TO {role};
GRANT UPDATE (amount, movement_number, read_at) ON processor_balances TO {role};
