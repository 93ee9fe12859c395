-- The rights of an operator's own role (for `counterfoil status`, `why`, `reconcile` and others):
-- read everything, change nothing, and decide about dead letters.

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_operator') THEN
        RAISE EXCEPTION 'the role counterfoil_operator is not there; run deploy/postgres/init.sql again as a superuser (what is there stays as it is), then migrate again'
            USING ERRCODE = 'undefined_object';
    END IF;
END
$$;

GRANT USAGE ON SCHEMA public TO counterfoil_operator;
-- These tables, and those that later migrations and months add.
GRANT SELECT ON ALL TABLES IN SCHEMA public TO counterfoil_operator;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO counterfoil_operator;

-- No event is discarded without a reason. Events that were discarded before reasons were required
-- have none.
ALTER TABLE dead_letters ADD COLUMN discard_reason text;
ALTER TABLE dead_letters ADD CONSTRAINT discarded_ones_say_why
    CHECK (state <> 'discarded' OR length(btrim(coalesce(discard_reason, ''))) > 0) NOT VALID;

-- Requests a redrive, or discards. The recorded event itself stays as it is.
GRANT UPDATE (state, redrive_requested_at, settled_at, discard_reason) ON dead_letters
    TO counterfoil_operator;
