import EventTypes
import Foundation
import ReceiptValidation
import ServiceKit

/// The answer of `verifyReceipt`, with Apple's field names.
///
/// Values are strings, including the Booleans `"true"` and `"false"`. Four numbers of the app are
/// numbers, as in Apple's answers, because typed clients decode them so.
struct VerifyReceiptAnswer: Encodable, Sendable {
    /// One purchase, as names and strings.
    typealias Entry = [String: String]

    /// The content of the receipt.
    struct Receipt: Encodable, Sendable {
        private enum CodingKeys: String, CodingKey {
            case adamID = "adam_id"
            case appItemID = "app_item_id"
            case downloadID = "download_id"
            case versionExternalIdentifier = "version_external_identifier"
            case inApp = "in_app"
        }

        /// All fields that are strings.
        var texts: Entry
        /// The purchases in the receipt.
        var inApp: [Entry]

        init(_ receipt: AppReceipt, at now: StoreTime) {
            let type = AppReceiptType(
                receipt.environment,
                isVolumePurchase: receipt.isVolumePurchase
            )
            texts = [
                "receipt_type": type.rawValue,
                "bundle_id": receipt.bundleID,
                "application_version": receipt.applicationVersion,
                "original_application_version": receipt.originalApplicationVersion,
            ]
            texts.add("receipt_creation_date", StoreTime(receipt.createdAt))
            texts.add("request_date", now)
            // The store sells no apps, so the date is the one that Apple's sandbox gives.
            texts.add("original_purchase_date", Self.originalPurchaseDate)
            texts.add("expiration_date", receipt.expiresAt.map(StoreTime.init))
            inApp = receipt.purchases.map(Entry.init)
        }

        private static let originalPurchaseDate = StoreTime(
            millisecondsSinceEpoch: 1_375_340_400_000
        )

        func encode(to encoder: any Encoder) throws {
            var numbers = encoder.container(keyedBy: CodingKeys.self)
            for key in [
                CodingKeys.adamID, .appItemID, .downloadID, .versionExternalIdentifier,
            ] {
                try numbers.encode(0, forKey: key)
            }
            try numbers.encode(inApp, forKey: .inApp)
            var container = encoder.container(keyedBy: MemberName.self)
            for (name, value) in texts {
                try container.encode(value, forKey: MemberName(stringValue: name))
            }
        }
    }

    enum CodingKeys: String, CodingKey {
        case status
        case environment
        case receipt
        case latestReceipt = "latest_receipt"
        case latestReceiptInfo = "latest_receipt_info"
        case pendingRenewalInfo = "pending_renewal_info"
    }

    /// The status.
    var status: Int
    /// `Sandbox` or `Production`.
    ///
    /// It is set with status 0 only, like all fields below.
    var environment: String?
    /// The content of the receipt.
    var receipt: Receipt?
    /// The account's present receipt, in base64.
    var latestReceipt: String?
    /// The account's purchases until now, the newest first.
    var latestReceiptInfo: [Entry]?
    /// The account's subscriptions, with what their next renewal is; only if it has any.
    var pendingRenewalInfo: [Entry]?

    init(status: VerifyReceiptStatus) { self.status = status.rawValue }

    /// Returns the account's purchases until now, the newest first.
    ///
    /// A period that an upgrade has ended is cancelled at the start of the next one (rule S242).
    static func latest(
        _ entries: [AppReceiptEntry],
        excludesOldTransactions: Bool
    ) -> [Entry] {
        var next: [TransactionID: AppReceiptEntry] = [:]
        return entries.reversed().compactMap { entry in
            guard entry.isAutoRenewable else { return Entry(entry) }
            let newer = next.updateValue(entry, forKey: entry.originalTransactionId)
            guard !excludesOldTransactions || newer == nil else { return nil }
            var texts = Entry(entry)
            if entry.isUpgraded == true, entry.revocationDate == nil {
                texts.add("cancellation_date", newer?.purchaseDate)
            }
            return texts
        }
    }
}

extension VerifyReceiptAnswer.Entry {
    /// Creates an entry from a purchase in a receipt.
    init(_ purchase: AppReceipt.Purchase) {
        self = [
            "quantity": String(purchase.quantity),
            "product_id": purchase.productID,
            "transaction_id": purchase.transactionID,
            "original_transaction_id": purchase.originalTransactionID,
            "is_trial_period": String(purchase.isTrialPeriod ?? false),
            "in_app_ownership_type": "PURCHASED",
        ]
        add("purchase_date", StoreTime(purchase.purchasedAt))
        add("original_purchase_date", StoreTime(purchase.originalPurchasedAt))
        add("expires_date", purchase.expiresAt.map(StoreTime.init))
        if let cancelledAt = purchase.cancelledAt {
            add("cancellation_date", StoreTime(cancelledAt))
            self["cancellation_reason"] = "0"
        }
        self["web_order_line_item_id"] = purchase.webOrderLineItemID.map { String($0) }
        self["is_in_intro_offer_period"] = purchase.isInIntroOfferPeriod.map { String($0) }
    }

    /// Creates an entry of the next renewal of a subscription, in the state that it has at a time
    /// (rule S243).
    init(_ subscription: Subscription, at time: StoreTime) {
        let subscription = SubscriptionStatus.present(subscription, at: time)
        let state = subscription.state
        let isOn = subscription.isAutoRenewOn && state.isRunning
        self = [
            "auto_renew_product_id": (subscription.nextProduct ?? subscription.product).id
                .rawValue,
            "auto_renew_status": isOn ? "1" : "0",
            "original_transaction_id": subscription.id.rawValue,
            "product_id": subscription.product.id.rawValue,
        ]
        let offer = isOn ? subscription.nextOffer : nil
        self["promotional_offer_id"] = offer?.type == .promotional ? offer?.id?.rawValue : nil
        self["offer_code_ref_name"] = offer?.type == .code ? offer?.id?.rawValue : nil
        self["expiration_intent"] = subscription.expirationIntent.map { String($0.rawValue) }
        if let status = subscription.priceIncreaseStatus {
            // Apple has the first only for a price that needs consent.
            let needsConsent = subscription.priceIncrease?.status != .notified
            self["price_consent_status"] = needsConsent ? String(status) : nil
            self["price_increase_status"] = String(status)
        }
        switch state {
        case .inGracePeriod, .inBillingRetryPeriod: self["is_in_billing_retry_period"] = "1"
        case .expired where subscription.expirationIntent == .billingError:
            self["is_in_billing_retry_period"] = "0"
        case .active, .expired, .revoked, .unknown: break
        }
        if state == .inGracePeriod {
            add("grace_period_expires_date", subscription.gracePeriodEnd)
        }
    }

    /// Creates an entry from the present record of a purchase.
    init(_ entry: AppReceiptEntry) {
        self = [
            "quantity": String(entry.quantity),
            "product_id": entry.productId.rawValue,
            "transaction_id": entry.transactionId.rawValue,
            "original_transaction_id": entry.originalTransactionId.rawValue,
            "is_trial_period": String(entry.isTrialPeriod),
            "in_app_ownership_type": entry.inAppOwnershipType ?? "PURCHASED",
        ]
        add("purchase_date", entry.purchaseDate)
        add("original_purchase_date", entry.originalPurchaseDate)
        add("expires_date", entry.expiresDate)
        if let revokedAt = entry.revocationDate {
            add("cancellation_date", revokedAt)
            self["cancellation_reason"] = String(entry.revocationReason ?? 0)
        }
        if entry.isAutoRenewable {
            self["is_in_intro_offer_period"] = String(entry.isInIntroOfferPeriod)
        }
        self["is_upgraded"] = entry.isUpgraded == true ? "true" : nil
        self["subscription_group_identifier"] = entry.subscriptionGroupIdentifier
        self["web_order_line_item_id"] = entry.webOrderLineItemId
        self["app_account_token"] = entry.appAccountToken
        self["promotional_offer_id"] = entry.offerType == 2 ? entry.offerIdentifier : nil
        self["offer_code_ref_name"] = entry.offerType == 3 ? entry.offerIdentifier : nil
    }

    /// Adds a time in its three formats, or nothing if it is `nil`.
    fileprivate mutating func add(_ name: String, _ moment: StoreTime?) {
        guard let moment else { return }
        self[name] = "\(moment.daytime) Etc/GMT"
        self[name + "_ms"] = String(moment.millisecondsSinceEpoch)
        self[name + "_pst"] = "\(moment.inLosAngeles.daytime) America/Los_Angeles"
    }
}

extension StoreTime {
    private static let losAngeles = TimeZone(identifier: "America/Los_Angeles")

    /// Converts a date of a receipt, which has whole seconds.
    fileprivate init(_ date: Date) {
        self.init(millisecondsSinceEpoch: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }

    /// `2026-11-21 02:00:00`.
    fileprivate var daytime: String {
        let text = description
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8))"
    }

    /// The time whose UTC representation is this time's representation in Los Angeles.
    fileprivate var inLosAngeles: StoreTime {
        // Eight hours if there is no time zone database, which is wrong by one in summer.
        advanced(by: .seconds(Self.losAngeles?.secondsFromGMT(for: date) ?? -28_800))
    }
}
