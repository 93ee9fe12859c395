-- Whether the buyer has asked for this charge of what a subscription owes, and so may act on the bank's page.
-- A purchase always has its buyer present, and does not say so here.
ALTER TABLE processor_attempts ADD COLUMN is_buyer_present boolean NOT NULL DEFAULT false;
