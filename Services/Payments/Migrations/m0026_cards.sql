-- Cards that a buyer has removed, or that a bank will never accept again. The rows stay: a charge that
-- was begun may have to be looked up by its buyer.

ALTER TABLE payment_methods ADD COLUMN removed_at timestamptz;
ALTER TABLE payment_methods ADD COLUMN refused_at timestamptz;

GRANT UPDATE (brand, last_four, expiry_month, expiry_year, removed_at, refused_at)
    ON payment_methods TO {role};
