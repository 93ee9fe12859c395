-- Who decided, and why: the acts of administrators, as they are in the events.

-- The act that approved or declined the transaction. NULL while nobody has.
ALTER TABLE transactions ADD COLUMN approval_act json;
GRANT UPDATE (approval_act) ON transactions TO {role};

-- The act that asked for the refund or the reversal. NULL for a charge, and for a refund that the
-- store owes.
ALTER TABLE processor_attempts ADD COLUMN act json;
