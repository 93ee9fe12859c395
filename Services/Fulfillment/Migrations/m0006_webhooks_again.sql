-- Confirmed webhooks can be sent again. They then get a due time like pending ones, and stay
-- delivered whatever the result is.
CREATE INDEX deliveries_again ON deliveries (next_attempt_at)
    WHERE state = 'delivered' AND next_attempt_at IS NOT NULL;
