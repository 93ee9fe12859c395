-- Refunds that have failed after the processor had confirmed or begun them, and payments that wait for
-- a processor that takes no calls.

-- The processor's id of a refund for the attempt that has failed. What is said of it from before then
-- counts no more. If it is still the reference of a settled attempt, that refund was reversed.
ALTER TABLE processor_attempts ADD COLUMN failed_reference text;

-- The machines' time since which the processor is to be called. NULL while nobody has to, and until a
-- call is not taken, or not made in time: an ordinary payment never has it.
ALTER TABLE processor_attempts ADD COLUMN callable_since timestamptz;

GRANT UPDATE (failed_reference, callable_since) ON processor_attempts TO {role};
