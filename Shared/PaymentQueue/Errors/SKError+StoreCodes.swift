// The translation of the store's own codes: StoreKit's code, a sentence for the buyer, and an
// explanation for the developer. The codes follow StoreKit's documentation of each.

extension SKError {
    /// The StoreKit code for each problem code that a service answers with.
    ///
    /// A problem code that is not listed comes from a newer store and becomes ``Code/unknown``.
    static let codes: [String: Code] = {
        var codes: [String: Code] = [:]
        for (code, problems) in problemsByCode {
            for problem in problems { codes[problem] = code }
        }
        return codes
    }()

    private static let problemsByCode: [(Code, [String])] = [
        // The store does not sell this product here, or not at this time.
        (
            .storeProductNotAvailable,
            [
                "product_unknown", "product_unavailable", "product_type_not_sold_yet",
                "storefront_changed", "storefront_unknown",
            ]
        ),
        // The request itself is invalid.
        (
            .paymentInvalid,
            [
                "stale_price", "wrong_currency", "price_overflow", "quantity_out_of_range",
                "payment_method_unknown", "payment_method_not_available", "card_number_refused",
                "application_username_too_long", "already_subscribed",
                "offers_contradict", "purchase_intent_unknown", "idempotency_key_missing",
                "idempotency_key_malformed",
                "idempotency_key_reused",
            ]
        ),
        // The offer is not what the buyer was shown.
        (.invalidOfferIdentifier, ["offer_unknown"]),
        (
            .invalidSignature,
            [
                "offer_key_unknown", "offer_signature_invalid", "offer_expired",
                "offer_nonce_used",
            ]
        ),
        (.missingOfferParams, ["offer_incomplete"]),
        (.invalidOfferPrice, ["stale_offer", "offer_price_invalid"]),
        (.ineligibleForOffer, ["offer_not_available"]),
        // This account is not allowed to pay.
        (.paymentNotAllowed, ["payments_not_allowed"]),
        // The store cannot be reached or is busy.
        (
            .cloudServiceNetworkConnectionFailed,
            [
                "try_again", "outcome_unknown", "not_ready", "overloaded", "body_too_slow",
                "storage_full",
                "too_many_streams", "too_many_downloads", "too_many_test_notifications",
                "too_many_requests_of_account",
            ]
        ),
        // The app or the account is not allowed to do this.
        (
            .clientInvalid,
            [
                "unauthorized", "fresh_authentication_required",
                // The object belongs to another account, or its state does not allow the request.
                "transaction_unknown", "transaction_purchasing", "transaction_deferred",
                "transaction_failed", "transaction_finished", "transaction_revoked",
                "transaction_ended", "transaction_not_delivered", "transaction_state_unknown",
                "content_unknown", "receipt_property_refused", "price_consent_replaced",
                "price_consent_decided_otherwise", "price_not_asked",
                "other_subscription_group", "payment_needed", "subscription_ended",
                "subscription_unknown", "family_organizer_stays",
                // Only administrators receive these codes, and an app is not an administrator.
                "account_change_empty", "account_id_malformed", "app_unregistered",
                "auto_renew_off", "next_period_paid", "nothing_owed", "price_not_higher",
                "price_in_use", "price_above_catalog", "not_next_product",
                "test_settings_invalid",
                "bundle_id_malformed", "campaign_invalid", "catalog_invalid", "code_taken",
                "clock_advancing", "clock_amount_missing", "clock_beyond_certificates",
                "clock_failed", "clock_moves_forward", "clock_not_failed", "clock_not_there",
                "clock_rate_malformed", "clock_span_malformed", "clock_too_far",
                "content_digest_differs",
                "content_digest_malformed", "content_empty", "content_incomplete",
                "content_length_required", "content_too_large", "content_version_malformed",
                "content_version_taken", "decided_otherwise",
                "action_decided_otherwise", "no_action_needed", "refund_failed", "reversal_failed",
                "dispute_refused", "not_deferred", "not_interrupted", "not_purchased",
                "refund_disputed",
                "notification_endpoint_malformed", "notification_endpoint_unknown",
                "notification_part_missing", "notification_type_unknown", "precondition_failed",
                "nothing_to_refund", "precondition_invalid", "product_invalid",
                "product_malformed", "product_type_fixed", "refund_not_positive",
                "refund_not_settled", "refund_too_large", "refund_unknown", "scope_missing",
                "subscription_group_fixed", "subscription_period_fixed",
                "too_many_purchase_intents", "too_many_refunds", "too_many_tries",
                "transaction_is_copy", "family_shared", "refund_requested",
                "too_many_refund_requests",
                "refund_reason_unknown", "refund_request_unknown", "already_refunded",
                "reason_missing", "family_unknown", "family_too_small", "family_too_large",
                "family_member_repeated", "family_member_unknown",
                "family_ended", "in_another_family", "not_extendable", "too_many_extensions",
                "extension_out_of_range", "family_sharing_fixed", "price_change_none",
                "price_change_past",
                "storefronts_empty",
                // Buyers save payment methods by the app's own calls.
                "payment_methods_not_saved", "setup_unfinished", "setup_unknown",
                // People learn these on the store's page for codes, and apps do not.
                "code_offer_ended", "code_redeemed_before", "code_used",
                // Only the processor receives these codes.
                "processor_not_used", "webhook_refused",
            ]
        ),
        // Programs of this library should never receive these codes.
        (
            .unknown,
            [
                "internal", "not_found", "method_not_allowed", "malformed_json",
                "malformed_request", "host_invalid", "body_too_large",
                "unsupported_content_encoding", "unsupported_media_type", "query_invalid",
                "after_malformed", "group_malformed",
                "last_event_id_malformed", "range_not_satisfiable", "restore_too_large",
            ]
        ),
    ]

    /// Sentences for the buyer, for store codes that are more precise than StoreKit's code.
    static let sentences: [String: String] = [
        "paymentDeclined": "Your payment method was declined.",
        "insufficientFunds": "Your payment method does not have enough money.",
        "approvalDeclined": "The purchase was not approved.",
        "approvalExpired": "Nobody approved the purchase in time.",
        "processorRefused": "The payment could not be processed. Nothing was charged.",
        "storefrontChanged": "Your country or region has changed. Nothing was charged.",
        "storefront_changed": "Your country or region has changed. Nothing was charged.",
        "interrupted": "The purchase needs something from you before it can continue.",
        "buyerMustAct": "Your bank wants you to confirm the payment.",
        "stale_price": "The price has changed. Nothing was charged.",
        "stale_offer": "The offer has changed. Nothing was charged.",
        "offer_not_available": "This offer is not available to you. Nothing was charged.",
        "quantity_out_of_range": "This quantity cannot be bought.",
        "fresh_authentication_required": "Please sign in again, and try once more.",
        "payment_method_not_available": "The store does not accept this payment method.",
        "payment_method_unknown": "The store does not accept this payment method.",
        "product_type_not_sold_yet": "This product cannot be bought yet.",
        "already_subscribed": "You have a subscription already.",
        "subscriptionChanged": "You have a subscription already. What was charged is given back.",
        "too_many_tries": "You have tried often enough today. Please try again tomorrow.",
        "restore_too_large": "There are too many purchases to restore at once.",
    ]

    /// Explanations of a failed transaction's reason, for the developer.
    static let meanings: [String: String] = [
        "paymentCancelled": "The buyer cancelled the payment.",
        "paymentDeclined": "The processor declined the payment method.",
        "insufficientFunds": "The processor says that the payment method has too little money.",
        "approvalDeclined": "The approver declined the purchase.",
        "approvalExpired": "The purchase was not approved before its time was over.",
        "processorRefused": "The processor cannot serve this payment, and will not later.",
        "storefrontChanged": "The account's storefront changed after the payment was accepted. "
            + "Ask for the products again.",
        "paymentsNotAllowed": "The store has blocked payments of this account in this app.",
        "subscriptionChanged": "The account began another subscription of the group meanwhile. The "
            + "charge is given back.",
        "buyerMustAct":
            "The bank wanted to see the buyer, who was away or left its page, so a renewal was not "
            + "charged. If the buyer chooses a payment method again, the bank may ask them.",
        "interrupted": "The buyer left to complete something. The outcome of the purchase is "
            + "another transaction.",
    ]
}

extension SKError.Code {
    /// The code as a sentence for the buyer.
    var sentence: String {
        switch self {
        case .unknown: "Something went wrong. Please try again later."
        case .clientInvalid: "This app is not allowed to do that."
        case .paymentCancelled: "The purchase was cancelled."
        case .paymentInvalid: "The payment was not accepted."
        case .paymentNotAllowed: "Purchases are not allowed for this account."
        case .storeProductNotAvailable: "This product is not available in the store."
        case .cloudServicePermissionDenied: "This app may not use the cloud service."
        case .cloudServiceNetworkConnectionFailed:
            "The store cannot be reached. Please check your connection and try again."
        case .cloudServiceRevoked: "This app may no longer use the cloud service."
        case .privacyAcknowledgementRequired: "Please read the store's privacy notice first."
        case .unauthorizedRequestData: "This app is not allowed to ask for that."
        case .invalidOfferIdentifier: "This offer does not exist."
        case .invalidSignature: "This offer could not be verified."
        case .missingOfferParams: "This offer is incomplete."
        case .invalidOfferPrice: "The price of this offer is no longer valid."
        case .overlayCancelled: "The page was closed."
        case .overlayInvalidConfiguration: "The page cannot be shown."
        case .overlayTimeout: "The page took too long to load."
        case .ineligibleForOffer: "This offer is not available to you."
        case .unsupportedPlatform: "This device does not support that."
        case .overlayPresentedInBackgroundScene: "The page can only be shown in front."
        }
    }

    /// The code as a sentence for the developer, if nothing more precise is known.
    var meaning: String { "The error has StoreKit's code \(rawValue), \(self)." }
}
