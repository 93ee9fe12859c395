-- Refunds that have failed after the processor had confirmed or begun them.

-- The processor's id of a refund for the attempt that has failed. What is said of it from before then
-- counts no more. If it is still the reference of a settled attempt, that refund was reversed.
ALTER TABLE processor_attempts ADD COLUMN failed_reference text;

GRANT UPDATE (failed_reference) ON processor_attempts TO {role};
