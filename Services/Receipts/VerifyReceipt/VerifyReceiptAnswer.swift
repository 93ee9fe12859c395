import EventTypes
import Foundation
import ReceiptValidation

/// What `verifyReceipt` answers, in Apple's words.
///
/// Values are texts, truth values `"true"` and `"false"` among them. Four numbers of the app are
/// numbers, as in Apple's answers: typed clients decode them so.
struct VerifyReceiptAnswer: Encodable, Sendable {
    /// One purchase: names and texts.
    typealias Entry = [String: String]

    /// What the receipt says.
    struct Receipt: Encodable, Sendable {
        private enum CodingKeys: String, CodingKey {
            case adamID = "adam_id"
            case appItemID = "app_item_id"
            case downloadID = "download_id"
            case versionExternalIdentifier = "version_external_identifier"
            case inApp = "in_app"
        }

        private struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        /// Everything that is a text.
        var texts: Entry
        /// The purchases in the receipt.
        var inApp: [Entry]

        init(_ receipt: AppReceipt, at now: Timestamp) {
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
            texts.add("receipt_creation_date", Timestamp(receipt.createdAt))
            texts.add("request_date", now)
            // The store sells no apps; an app's own purchase is where Apple's sandbox puts it.
            texts.add("original_purchase_date", Self.originalPurchaseDate)
            texts.add("expiration_date", receipt.expiresAt.map(Timestamp.init))
            inApp = receipt.purchases.map(Entry.init)
        }

        private static let originalPurchaseDate = Timestamp(
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
            var container = encoder.container(keyedBy: Name.self)
            for (name, value) in texts {
                try container.encode(value, forKey: Name(stringValue: name))
            }
        }
    }

    enum CodingKeys: String, CodingKey {
        case status
        case environment
        case receipt
        case latestReceipt = "latest_receipt"
        case latestReceiptInfo = "latest_receipt_info"
    }

    /// The status.
    var status: Int
    /// `Sandbox` or `Production`; with status 0 only, like everything below.
    var environment: String?
    /// What the receipt says.
    var receipt: Receipt?
    /// The account's receipt as it is at present, in base64.
    var latestReceipt: String?
    /// What the account has bought by now, the newest first.
    var latestReceiptInfo: [Entry]?

    init(status: VerifyReceiptStatus) { self.status = status.rawValue }

    /// What the account has bought by now, the newest first.
    static func latest(
        _ entries: [AppReceiptEntry],
        excludesOldTransactions: Bool
    ) -> [Entry] {
        var seen: Set<TransactionID> = []
        return entries.reversed()
            .filter { entry in
                guard excludesOldTransactions, entry.isAutoRenewable else { return true }
                return seen.insert(entry.originalTransactionId).inserted
            }
            .map(Entry.init)
    }
}

extension VerifyReceiptAnswer.Entry {
    /// A purchase as a receipt gives it.
    init(_ purchase: AppReceipt.Purchase) {
        self = [
            "quantity": String(purchase.quantity),
            "product_id": purchase.productID,
            "transaction_id": purchase.transactionID,
            "original_transaction_id": purchase.originalTransactionID,
            "is_trial_period": "false",
            "in_app_ownership_type": "PURCHASED",
        ]
        add("purchase_date", Timestamp(purchase.purchasedAt))
        add("original_purchase_date", Timestamp(purchase.originalPurchasedAt))
        add("expires_date", purchase.expiresAt.map(Timestamp.init))
        if let cancelledAt = purchase.cancelledAt {
            add("cancellation_date", Timestamp(cancelledAt))
            self["cancellation_reason"] = "0"
        }
        self["web_order_line_item_id"] = purchase.webOrderLineItemID.map { String($0) }
        self["is_in_intro_offer_period"] = purchase.isInIntroOfferPeriod.map { String($0) }
    }

    /// A purchase as it is known at present.
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

    /// Adds a moment in its three forms; nothing if there is none.
    fileprivate mutating func add(_ name: String, _ moment: Timestamp?) {
        guard let moment else { return }
        self[name] = "\(moment.daytime) Etc/GMT"
        self[name + "_ms"] = String(moment.millisecondsSinceEpoch)
        self[name + "_pst"] = "\(moment.inLosAngeles.daytime) America/Los_Angeles"
    }
}

extension Timestamp {
    private static let losAngeles = TimeZone(identifier: "America/Los_Angeles")

    /// A date of a receipt, which has whole seconds.
    fileprivate init(_ date: Date) {
        self.init(millisecondsSinceEpoch: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }

    /// `2026-11-21 02:00:00`.
    fileprivate var daytime: String {
        let text = description
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8))"
    }

    /// The moment whose UTC reads as this one does in Los Angeles.
    fileprivate var inLosAngeles: Timestamp {
        // Eight hours without the database of time zones; wrong by one in summer.
        advanced(by: .seconds(Self.losAngeles?.secondsFromGMT(for: date) ?? -28_800))
    }
}
