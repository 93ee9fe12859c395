-- Calls of a processor that takes its time, wants something of the buyer, or forgets a key.

ALTER TABLE processor_attempts DROP CONSTRAINT attempt_step_is_known;
ALTER TABLE processor_attempts ADD CONSTRAINT attempt_step_is_known
    CHECK (step IN (
        'calling', 'waiting', 'awaiting_approval', 'processing', 'awaiting_action', 'failed',
        'settled'));

-- The machines' time before which the processor was certainly not called. NULL while nobody has to
-- call it.
ALTER TABLE processor_attempts ADD COLUMN first_called_at timestamptz;
-- The generation of the key of its calls. It rises only when the processor has certainly done
-- nothing under the key before it, and never will.
ALTER TABLE processor_attempts ADD COLUMN generation integer NOT NULL DEFAULT 1
    CONSTRAINT generation_is_positive CHECK (generation > 0);
-- Whether the processor can be called without an inquiry, because no call may be under way: the
-- attempt has only been queued, or the processor did not take the call.
ALTER TABLE processor_attempts ADD COLUMN is_uncalled boolean NOT NULL DEFAULT false;
-- The end of the time that the buyer has to act, by the machines' clock.
ALTER TABLE processor_attempts ADD COLUMN action_ends_at timestamptz
    CONSTRAINT action_has_an_end CHECK ((step = 'awaiting_action') = (action_ends_at IS NOT NULL));
-- Whether a payment waits for its buyer, who has to confirm the charge. NULL if it does not.
ALTER TABLE transactions ADD COLUMN awaits_buyer boolean
    CONSTRAINT only_a_payment_awaits_its_buyer CHECK (NOT awaits_buyer OR state = 'purchasing');
-- What the processor advises after a decline.
ALTER TABLE processor_attempts ADD COLUMN advice text;

ALTER TABLE processor_attempts ADD CONSTRAINT failed_is_not_due
    CHECK (step <> 'failed' OR due_at IS NULL);

GRANT UPDATE (awaits_buyer) ON transactions TO {role};
GRANT UPDATE (first_called_at, generation, is_uncalled, action_ends_at, advice)
    ON processor_attempts TO {role};
