-- Three services in one PostgreSQL. Each has tables of its own and reads no other's.
CREATE SCHEMA payments;
CREATE SCHEMA receipts;
CREATE SCHEMA fulfillment;

CREATE TABLE payments.payment (
    id uuid PRIMARY KEY, account text NOT NULL, product text NOT NULL, amount bigint NOT NULL,
    state text NOT NULL CHECK (state IN ('purchasing', 'purchased')),
    requested_us bigint NOT NULL, changed_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE payments.entry (
    payment uuid NOT NULL, ledger text NOT NULL, amount bigint NOT NULL, posted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (payment, ledger));

CREATE TABLE receipts.inbox (event uuid PRIMARY KEY, received_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE receipts.receipt (
    payment uuid PRIMARY KEY, account text NOT NULL, payload text NOT NULL, signature bytea NOT NULL,
    issued_at timestamptz NOT NULL DEFAULT now());

CREATE TABLE fulfillment.inbox (event uuid PRIMARY KEY, received_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE fulfillment.delivery (
    payment uuid PRIMARY KEY, account text NOT NULL, product text NOT NULL, delivered_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE fulfillment.entitlement (
    account text NOT NULL, product text NOT NULL, quantity bigint NOT NULL, PRIMARY KEY (account, product));
CREATE TABLE fulfillment.finished (payment uuid PRIMARY KEY, finished_at timestamptz NOT NULL DEFAULT now());

-- An insert-only outbox, read in commit order behind a cursor. A service has one relay; here each client of pgbench has one.
DO $$ DECLARE s text; BEGIN
  FOREACH s IN ARRAY ARRAY['payments', 'receipts', 'fulfillment'] LOOP
    EXECUTE format('CREATE TABLE %I.outbox (
        id bigint GENERATED ALWAYS AS IDENTITY, xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
        event uuid NOT NULL, type text NOT NULL, key text NOT NULL, payload text NOT NULL, PRIMARY KEY (xid, id))', s);
    EXECUTE format('CREATE TABLE %I.relay (relay int PRIMARY KEY, xid xid8 NOT NULL, id bigint NOT NULL)', s);
    EXECUTE format('INSERT INTO %I.relay SELECT r, ''0'', 0 FROM generate_series(0, 15) r', s);
  END LOOP;
END $$;
