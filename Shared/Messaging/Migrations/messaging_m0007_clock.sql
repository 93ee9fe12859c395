-- The newest change of the store's clock that this service has read. With it a service that starts
-- after the broker has lost its log still knows the store's time. Without a row, nobody has set the
-- clock.
CREATE TABLE followed_clock (
    id boolean PRIMARY KEY DEFAULT true CONSTRAINT a_service_follows_one_clock CHECK (id),
    step bigint NOT NULL CHECK (step > 0),
    -- The clock as its event carries it.
    clock json NOT NULL
);
GRANT SELECT, INSERT, UPDATE (step, clock) ON followed_clock TO SERVICE_ROLE;
