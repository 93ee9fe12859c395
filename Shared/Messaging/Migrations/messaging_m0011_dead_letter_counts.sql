-- The dead and the parked letters, which are counted apart and each up to a limit.
CREATE INDEX dead_letters_open_by_state ON dead_letters (state)
    WHERE state IN ('dead', 'parked');
