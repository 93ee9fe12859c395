-- The digest of the code whose terms the page has shown to the holder of a ticket. Whoever confirms them has
-- typed a code that exists, so that form counts no try.
ALTER TABLE redemption_tickets ADD COLUMN shown text;
GRANT UPDATE (shown) ON redemption_tickets TO {role};
