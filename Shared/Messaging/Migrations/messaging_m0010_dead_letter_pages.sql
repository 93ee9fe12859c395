-- The lists of dead letters read one page, however many letters there are.

-- The decisions about them, the newest first.
CREATE INDEX dead_letters_decided ON dead_letters
    ((coalesce(settled_at, redrive_requested_at, recorded_at)), id)
    WHERE act IS NOT NULL;
-- The open ones of each key, in the order of the keys' bytes.
CREATE INDEX dead_letters_open_by_key ON dead_letters (key COLLATE "C", consumer)
    WHERE state IN ('dead', 'parked');
