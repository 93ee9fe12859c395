-- Offer codes: campaigns, their codes, who redeemed them, and the tickets of the page.

-- What an administrator's codes are for. No row is deleted, so that the books know who made them and why.
CREATE TABLE code_campaigns (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bundle_id text NOT NULL,
    product_id text NOT NULL,
    offer_id text NOT NULL,
    kind text NOT NULL CONSTRAINT campaign_kind_is_known CHECK (kind IN ('oneTime', 'custom')),
    -- The number of one-time codes, or of the redemptions of the custom code.
    redemptions_max integer NOT NULL
        CONSTRAINT campaign_can_be_redeemed CHECK (redemptions_max > 0),
    -- The word of a custom code, which is no secret. NULL for one-time codes.
    word text CONSTRAINT word_is_custom CHECK ((kind = 'custom') = (word IS NOT NULL)),
    -- The end by the store's clock. NULL if there is none.
    expires_at timestamptz,
    created_at timestamptz NOT NULL,
    creation_act json NOT NULL,
    deactivated_at timestamptz,
    deactivation_act json,
    CONSTRAINT deactivation_has_an_act
        CHECK ((deactivated_at IS NULL) = (deactivation_act IS NULL))
);

-- Codes, of which only the SHA-256 over the app and the code is kept.
CREATE TABLE offer_codes (
    digest text NOT NULL,
    campaign_id bigint NOT NULL REFERENCES code_campaigns (id),
    redemptions_max integer NOT NULL,
    redemptions integer NOT NULL DEFAULT 0,
    CONSTRAINT offer_codes_pkey PRIMARY KEY (digest),
    -- Of two redemptions at once, the one too many waits for the row and fails here.
    CONSTRAINT a_code_is_redeemed_at_most_so_often
        CHECK (redemptions BETWEEN 0 AND redemptions_max)
);
CREATE INDEX offer_codes_of_campaign ON offer_codes (campaign_id);

-- The payments that hold a redemption: purchased, or not decided yet. One that fails gives it back.
CREATE TABLE code_redemptions (
    transaction_id bigint NOT NULL,
    digest text NOT NULL REFERENCES offer_codes (digest),
    account_id text NOT NULL,
    bundle_id text NOT NULL,
    product_id text NOT NULL,
    offer_id text NOT NULL,
    redeemed_at timestamptz NOT NULL,
    CONSTRAINT code_redemptions_pkey PRIMARY KEY (transaction_id),
    CONSTRAINT an_account_redeems_an_offer_once
        UNIQUE (account_id, bundle_id, product_id, offer_id)
);
CREATE INDEX code_redemptions_of_code ON code_redemptions (digest);

-- Tickets for the page, by their SHA-256. All dates are machine time.
CREATE TABLE redemption_tickets (
    digest text NOT NULL PRIMARY KEY,
    account_id text NOT NULL,
    bundle_id text NOT NULL,
    storefront text NOT NULL,
    payment_method text NOT NULL,
    application_username text,
    ends_at timestamptz NOT NULL
);
CREATE INDEX redemption_tickets_end ON redemption_tickets (ends_at);

-- How many codes an account has tried since a time of the machines.
CREATE TABLE redemption_tries (
    account_id text NOT NULL,
    bundle_id text NOT NULL,
    since timestamptz NOT NULL,
    tries integer NOT NULL,
    PRIMARY KEY (account_id, bundle_id)
);

GRANT SELECT, INSERT ON code_campaigns, offer_codes TO {role};
GRANT UPDATE (deactivated_at, deactivation_act) ON code_campaigns TO {role};
GRANT UPDATE (redemptions) ON offer_codes TO {role};
GRANT SELECT, INSERT, DELETE ON code_redemptions, redemption_tickets, redemption_tries TO {role};
GRANT UPDATE (since, tries) ON redemption_tries TO {role};
