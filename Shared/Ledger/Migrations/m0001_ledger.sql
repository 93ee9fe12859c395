-- The money ledger: postings with their entries. It is append-only, and the database checks that
-- each posting sums to zero.

-- A posting is one row: entry n moves amounts[n] in accounts[n]. All entries are in one currency.
-- Nothing looks a posting up by its id, which its event also carries. A purchase finds its postings
-- by kind.
CREATE TABLE ledger_postings (
    transaction_id bigint NOT NULL,
    kind text NOT NULL
        CONSTRAINT posting_kind_is_known CHECK (
            kind IN (
                'purchase', 'refund', 'refund_reversal', 'stray_charge', 'stray_charge_return')),
    -- The number of the posting among those of its kind. The second refund of a purchase has number
    -- 2.
    number integer NOT NULL CONSTRAINT posting_number_is_positive CHECK (number > 0),
    id uuid NOT NULL,
    posted_at timestamptz NOT NULL,
    currency text NOT NULL CONSTRAINT currency_is_iso_4217 CHECK (currency ~ '^[A-Z]{3}$'),
    accounts text[] NOT NULL,
    amounts bigint[] NOT NULL,
    CONSTRAINT posted_once PRIMARY KEY (transaction_id, kind, number),
    CONSTRAINT entry_has_account_and_amount CHECK (
        array_ndims(amounts) = 1 AND array_ndims(accounts) = 1
        AND array_lower(amounts, 1) = 1 AND array_lower(accounts, 1) = 1
        AND cardinality(amounts) = cardinality(accounts)
        AND array_position(accounts, NULL) IS NULL),
    CONSTRAINT entry_moves_money CHECK ((0 <> ALL (amounts)) IS TRUE),
    -- Written out for up to four entries, because a function over the array costs more than the
    -- row.
    CONSTRAINT posting_has_two_to_four_entries CHECK (cardinality(amounts) BETWEEN 2 AND 4),
    CONSTRAINT entries_balance_to_zero CHECK (
        (amounts[1] + amounts[2] + coalesce(amounts[3], 0) + coalesce(amounts[4], 0) = 0) IS TRUE)
);

-- The ledger line by line, for people and for sums. The view stores nothing itself.
CREATE VIEW ledger_entries AS
    SELECT posting.id AS posting_id, posting.transaction_id, posting.kind, posting.number,
        entry.place::integer AS entry_number, entry.account, entry.amount, posting.currency
    FROM ledger_postings posting
    CROSS JOIN LATERAL unnest(posting.accounts, posting.amounts)
        WITH ORDINALITY AS entry (account, amount, place);

-- Grants keep services from changing the books. This trigger keeps the owner from doing it by
-- mistake. A migration that has to change them first says SET LOCAL counterfoil.migrating = 'on'.
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

GRANT SELECT, INSERT ON ledger_postings TO {role};
GRANT SELECT ON ledger_entries TO {role};
