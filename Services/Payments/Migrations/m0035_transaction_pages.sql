-- Under load, payments fill a page before the first of them is charged. The 30 % that were left free held
-- the new versions of a third of its rows. Each of the others went to another page, with new entries in
-- the indexes and the whole row in the write-ahead log. 50 % are enough for nearly all of them.
ALTER TABLE transactions SET (fillfactor = 50);
