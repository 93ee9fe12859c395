-- The balance of each unit of an account, so that reading it does not add up all its entries.
CREATE TABLE credit_balances (
    account_id text COLLATE "C" NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    unit text COLLATE "C" NOT NULL,
    -- The sum of the account's entries. A sum of 64-bit amounts may need more than 64 bits, and no
    -- purchase may fail because of it.
    balance numeric NOT NULL,
    PRIMARY KEY (account_id, bundle_id, unit)
) WITH (fillfactor = 70);

-- Adds the amounts of new entries in the database transaction that writes them. It does so for every
-- writer, also for an instance of the version before, which knows no balances. It runs with the
-- owner's rights, so the service itself cannot change a balance. A queue has one writer at a time, so
-- two writers never wait for each other's balances.
CREATE FUNCTION add_to_credit_balances() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO credit_balances AS known (account_id, bundle_id, unit, balance)
    SELECT account_id, bundle_id, unit, sum(amount) FROM added
    GROUP BY account_id, bundle_id, unit
    ORDER BY account_id, bundle_id, unit
    ON CONFLICT (account_id, bundle_id, unit)
        DO UPDATE SET balance = known.balance + excluded.balance;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION add_to_credit_balances() FROM PUBLIC;

-- This locks out writers of entries until the commit. So each entry is either added up below or by
-- the trigger.
CREATE TRIGGER add_to_credit_balances
    AFTER INSERT ON credit_entries REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION add_to_credit_balances();

INSERT INTO credit_balances (account_id, bundle_id, unit, balance)
SELECT account_id, bundle_id, unit, sum(amount) FROM credit_entries
GROUP BY account_id, bundle_id, unit;

GRANT SELECT ON credit_balances TO counterfoil_fulfillment;
