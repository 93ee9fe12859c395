-- Subscriptions at their newest versions, as `payments` publishes them. Signed renewal info is made
-- from them.
CREATE TABLE subscriptions (
    id bigint PRIMARY KEY,
    account_id text COLLATE "C" NOT NULL,
    bundle_id text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    -- The whole subscription, as in its event.
    data json NOT NULL
);

CREATE INDEX subscriptions_by_account ON subscriptions (account_id, bundle_id);

GRANT SELECT, INSERT ON subscriptions TO counterfoil_receipts;
GRANT UPDATE (version, data) ON subscriptions TO counterfoil_receipts;

-- A period that is renewed early begins after its receipt is signed. Existing rows satisfied a
-- stricter constraint.
ALTER TABLE signed_transactions DROP CONSTRAINT a_receipt_is_signed_after_the_purchase;
ALTER TABLE signed_transactions ADD CONSTRAINT a_receipt_is_signed_after_the_purchase
    CHECK (signed_at >= purchased_at OR product_type = 'autoRenewableSubscription') NOT VALID;
