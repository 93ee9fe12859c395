-- Who decided about a dead letter, and why. The reason of a discard is part of the act.
ALTER TABLE dead_letters ADD COLUMN act json;
ALTER TABLE dead_letters DROP CONSTRAINT discarded_ones_say_why;
ALTER TABLE dead_letters DROP COLUMN discard_reason;
ALTER TABLE dead_letters ADD CONSTRAINT discarded_ones_say_why
    CHECK (
        state <> 'discarded'
        OR (
            length(coalesce(act ->> 'decidedBy', '')) > 0
            AND length(btrim(coalesce(act ->> 'reason', ''))) > 0
        )
    ) NOT VALID;
GRANT UPDATE (act) ON dead_letters TO SERVICE_ROLE, counterfoil_operator;
