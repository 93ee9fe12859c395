-- Webhooks that were confirmed and are asked for again: they get a time at which they are due, like those
-- that are pending, and stay delivered whatever the result is.
CREATE INDEX deliveries_again ON deliveries (next_attempt_at)
    WHERE state = 'delivered' AND next_attempt_at IS NOT NULL;
