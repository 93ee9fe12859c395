-- The texts of subscriptions and of their renewals, which services store packed (`PackedJSON`), at the end of
-- the list. Rows that were stored before stay as they are.
CREATE OR REPLACE FUNCTION unpacked_json(packed bytea) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog AS $$
DECLARE
    texts CONSTANT text[] := ARRAY[
        '{"accountID":"',
        '","bundleID":"',
        '","deliveryPlan":[',
        '{"amount":',
        ',"kind":"credit","unit":"',
        '],"id":"',
        '","originalID":"',
        '","originalPurchasedAt":',
        ',"price":{"currency":"',
        '","price":{"currency":"',
        '","minorUnits":',
        '},"productID":"',
        '","productType":"consumable","productVersion":',
        '","productType":"nonConsumable","productVersion":',
        ',"purchasedAt":',
        ',"quantity":1,"reason":"purchase","requestedAt":',
        ',"state":"purchased","storefront":"',
        ',"state":"purchasing","storefront":"',
        '","version":',
        '{"environment":"Production",',
        '{"environment":"Sandbox",',
        '"posting":{"id":"',
        '","taxBasisPoints":0},"transaction":{"accountID":"',
        '"transaction":{"accountID":"',
        '{"isDelivered":true,"revision":',
        '{"finishedAt":',
        ',"isDelivered":true,"revision":',
        ',"transaction":{"accountID":"',
        '{"issuedAt":',
        ',"payloadSHA256":"',
        '","signing":{"appTransactionID":',
        ',"environment":"Sandbox","historyPosition":',
        ',"environment":"Production","historyPosition":',
        ',"signature":"',
        '"},"signingChainID":"',
        '","transaction":{"accountID":"',
        '","productType":"autoRenewableSubscription","productVersion":',
        '","productType":"nonRenewingSubscription","productVersion":',
        '","applicationUsername":"',
        '{"kind":"entitlement"}',
        '{"kind":"app"}',
        '{"kind":"webhook","url":"',
        '],"failureReason":"',
        ',"quantity":',
        ',"reason":"',
        '","requestedAt":',
        ',"refunds":[',
        ',"reversedAt":',
        ',"revokedAt":',
        ',"state":"',
        '","storefront":"',
        '","taxBasisPoints":',
        '{"isDelivered":false,"revision":',
        ',"isDelivered":false,"revision":',
        '{"contents":[',
        ',"originalTransactionID":"',
        '","transactionID":"',
        '","signing":{"appAccountToken":"',
        '","appTransactionID":',
        ',"quantity":1,"reason":"renewal","requestedAt":',
        '","subscription":{"charge":{"attempt":',
        '","subscription":{"end":',
        ',"epoch":',
        ',"period":',
        ',"subscriptionID":"',
        '"},"end":',
        ',"start":',
        ',"terms":{"groupID":"',
        '"},"terms":{"groupID":"',
        '},"terms":{"groupID":"',
        '","level":',
        ',"period":"',
        '"}},"version":',
        '{"cause":"renewed","changedAt":',
        '{"cause":"',
        '","changedAt":',
        ',"environment":"Sandbox","posting":{"id":"',
        '","taxBasisPoints":0},"subscription":{"accountID":"',
        '","attempts":0,"bundleID":"',
        '","earlierPeriod":{"anchor":',
        ',"charge":{"attempt":',
        ',"end":',
        ',"number":',
        '},"product":{"id":"',
        '"}},"reason":"renewal","refunded":{"currency":"',
        '"}},"reason":"purchase","refunded":{"currency":"',
        ',"transactionID":"',
        '"},"epoch":',
        ',"id":"',
        '","paidTime":{"days":',
        ',"months":',
        '},"period":{"anchor":',
        '","period":{"anchor":',
        '"},"recentStart":',
        ',"startedAt":',
        ',"state":"active","storefront":"',
        '},"transactionID":"'
    ];
    document text;
BEGIN
    IF substr(packed, 1, 1) = '\x1f' THEN
        RETURN convert_from(substr(packed, 2), 'UTF8');
    END IF;
    document := convert_from(packed, 'UTF8');
    IF position(chr(30) IN document) > 0 THEN
        FOR number IN 30..cardinality(texts) LOOP
            document := replace(document, chr(30) || chr(18 + number), texts[number]);
        END LOOP;
    END IF;
    FOR number IN 1..29 LOOP
        document := replace(document, chr(number), texts[number]);
    END LOOP;
    IF document ~ '[\x01-\x1f]' THEN
        RAISE EXCEPTION 'packed JSON has a code that this version does not know: %', packed
            USING ERRCODE = 'data_corrupted';
    END IF;
    RETURN document;
END
$$;
