/// The kind of a notification: its type, and its subtype if the type has any.
///
/// Pure. Only the pairs of App Store Server Notifications V2 exist (spec section 2.2).
struct NotificationKind: Hashable, Sendable, CustomStringConvertible {
    /// The content of a notification, besides its kind.
    enum Content: Hashable, Sendable {
        /// `data`, with a signed transaction.
        case transaction
        /// `data`, without one.
        case app
        /// `appData`, with a signed app transaction.
        case appTransaction
        /// `summary`, about an extension for many subscribers.
        case summary
        /// `externalPurchaseToken`.
        case externalPurchaseToken
    }

    let type: String
    let subtype: String?

    /// A consumable, non-consumable or non-renewing subscription was bought.
    static let oneTimeCharge = NotificationKind(known: "ONE_TIME_CHARGE")
    /// A transaction was refunded.
    static let refund = NotificationKind(known: "REFUND")
    /// A share of another member of the family was taken away.
    static let revoke = NotificationKind(known: "REVOKE")
    /// A refund was reversed.
    static let refundReversed = NotificationKind(known: "REFUND_REVERSED")
    /// A request for a refund was declined.
    static let refundDeclined = NotificationKind(known: "REFUND_DECLINED")
    /// A buyer asked for a refund, and the store wants to know how much was used.
    static let consumptionRequest = NotificationKind(known: "CONSUMPTION_REQUEST")
    /// One of many subscriptions could not be extended.
    static let renewalExtensionFailure = NotificationKind(known: "RENEWAL_EXTENSION", "FAILURE")
    /// Many subscriptions were extended.
    static let renewalExtensionSummary = NotificationKind(known: "RENEWAL_EXTENSION", "SUMMARY")
    /// Auto-renew was turned off.
    static let autoRenewDisabled = NotificationKind(
        known: "DID_CHANGE_RENEWAL_STATUS",
        "AUTO_RENEW_DISABLED"
    )
    /// A test that the merchant's server requested, to see whether it is reached.
    static let test = NotificationKind(known: "TEST")

    /// Creates a kind.
    ///
    /// - Returns: `nil` if the type does not exist, or does not have the subtype.
    init?(type: String, subtype: String?) {
        guard let subtypes = Self.subtypes[type], subtypes.contains(subtype) else { return nil }
        self.type = type
        self.subtype = subtype
    }

    private init(known type: String, _ subtype: String? = nil) {
        self.type = type
        self.subtype = subtype
    }

    /// All kinds, ordered by type.
    static let all: [NotificationKind] = subtypes.keys.sorted().flatMap { type in
        (subtypes[type] ?? []).compactMap { NotificationKind(type: type, subtype: $0) }
    }

    /// Whether a type with that name exists.
    static func hasType(_ type: String) -> Bool { subtypes[type] != nil }

    var content: Content {
        switch type {
        case "TEST": .app
        case "RESCIND_CONSENT": .appTransaction
        case "RENEWAL_EXTENSION" where subtype == "SUMMARY": .summary
        case "EXTERNAL_PURCHASE_TOKEN": .externalPurchaseToken
        default: .transaction
        }
    }

    var description: String { subtype.map { "\(type) \($0)" } ?? type }

    private static let subtypes: [String: [String?]] = [
        "CONSUMPTION_REQUEST": [nil],
        "DID_CHANGE_RENEWAL_PREF": [nil, "UPGRADE", "DOWNGRADE"],
        "DID_CHANGE_RENEWAL_STATUS": ["AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"],
        "DID_FAIL_TO_RENEW": [nil, "GRACE_PERIOD"],
        "DID_RENEW": [nil, "BILLING_RECOVERY"],
        "EXPIRED": [nil, "VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE"],
        "EXTERNAL_PURCHASE_TOKEN": ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"],
        "GRACE_PERIOD_EXPIRED": [nil],
        "METADATA_UPDATE": [nil],
        "MIGRATION": [nil],
        "OFFER_REDEEMED": [nil, "UPGRADE", "DOWNGRADE"],
        "ONE_TIME_CHARGE": [nil],
        "PRICE_CHANGE": [nil],
        "PRICE_INCREASE": ["PENDING", "ACCEPTED"],
        "REFUND": [nil],
        "REFUND_DECLINED": [nil],
        "REFUND_REVERSED": [nil],
        "RENEWAL_EXTENDED": [nil],
        "RENEWAL_EXTENSION": ["SUMMARY", "FAILURE"],
        "RESCIND_CONSENT": [nil],
        "REVOKE": [nil],
        "SUBSCRIBED": ["INITIAL_BUY", "RESUBSCRIBE"],
        "TEST": [nil],
    ]
}
