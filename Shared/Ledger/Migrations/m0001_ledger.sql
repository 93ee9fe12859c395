-- The money ledger: postings and their entries, append-only, zero in sum by the database's own check.

CREATE TABLE ledger_postings (
    id uuid PRIMARY KEY,
    transaction_id bigint NOT NULL,
    kind text NOT NULL
        CONSTRAINT posting_kind_is_known
        CHECK (kind IN ('purchase', 'refund', 'stray_charge', 'stray_charge_return')),
    posted_at timestamptz NOT NULL,
    CONSTRAINT posted_once UNIQUE (transaction_id, kind)
);

CREATE TABLE ledger_entries (
    posting_id uuid NOT NULL,
    entry_number integer NOT NULL CONSTRAINT entry_number_is_positive CHECK (entry_number > 0),
    account text NOT NULL,
    amount bigint NOT NULL CONSTRAINT entry_moves_money CHECK (amount <> 0),
    currency text NOT NULL CONSTRAINT currency_is_iso_4217 CHECK (currency ~ '^[A-Z]{3}$'),
    PRIMARY KEY (posting_id, entry_number)
);

-- One check per statement over the rows it inserted, not one per row: a batch of postings costs one
-- grouping. Entries of a posting come in one statement, or they do not come at all. It takes the
-- place of a foreign key, too, which would look up each entry's posting by itself.
CREATE FUNCTION ledger_entries_balance_to_zero() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
BEGIN
    IF EXISTS (
        SELECT FROM inserted GROUP BY posting_id, currency HAVING sum(amount) <> 0
    ) THEN
        RAISE EXCEPTION 'The entries of a posting sum to zero per currency.'
            USING ERRCODE = 'check_violation', TABLE = 'ledger_entries',
                CONSTRAINT = 'entries_balance_to_zero';
    END IF;
    IF EXISTS (
        SELECT FROM inserted i
        WHERE NOT EXISTS (SELECT FROM public.ledger_postings p WHERE p.id = i.posting_id)
    ) THEN
        RAISE EXCEPTION 'An entry belongs to a posting.'
            USING ERRCODE = 'foreign_key_violation', TABLE = 'ledger_entries',
                CONSTRAINT = 'entry_belongs_to_posting';
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER entries_balance_to_zero
    AFTER INSERT ON ledger_entries
    REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_entries_balance_to_zero();

-- Grants keep services from changing the books; this keeps the owner from doing it by mistake. A
-- migration that must says so first: SET LOCAL counterfoil.migrating = 'on'.
CREATE FUNCTION ledger_is_append_only() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF current_setting('counterfoil.migrating', true) IS DISTINCT FROM 'on' THEN
        RAISE EXCEPTION 'The ledger is append-only; a correction is a reversing posting.'
            USING ERRCODE = 'insufficient_privilege', TABLE = TG_TABLE_NAME,
                CONSTRAINT = 'ledger_is_append_only';
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER ledger_is_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_postings
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_append_only();

CREATE TRIGGER ledger_is_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_append_only();

GRANT SELECT, INSERT ON ledger_postings, ledger_entries TO {role};
