import Crypto
public import Foundation

/// The contents of an app receipt: the app and the account's purchases in it.
///
/// A ``ReceiptValidator`` creates it from a valid receipt.
public struct AppReceipt: Hashable, Sendable {
    /// A purchase in the receipt.
    public struct Purchase: Hashable, Sendable {
        /// The number of units.
        public internal(set) var quantity = 1
        /// The product.
        public internal(set) var productID = ""
        /// The type of the product.
        public internal(set) var productType = ProductType.unknown(nil)
        /// The identifier of the transaction.
        public internal(set) var transactionID = ""
        /// The identifier of the first transaction that this one renews or restores.
        public internal(set) var originalTransactionID = ""
        /// The date of the purchase, renewal or restore.
        public internal(set) var purchasedAt = Date.distantPast
        /// The date of the first purchase.
        public internal(set) var originalPurchasedAt = Date.distantPast
        /// The end of a subscription's period; `nil` for all other types.
        public internal(set) var expiresAt: Date?
        /// The date of the refund or revocation.
        public internal(set) var cancelledAt: Date?
        /// The identifier of a subscription's period.
        public internal(set) var webOrderLineItemID: Int64?
        /// Whether a subscription's period has an introductory price.
        public internal(set) var isInIntroOfferPeriod: Bool?
        /// Whether a subscription's period is a free trial.
        public internal(set) var isTrialPeriod: Bool?
    }

    /// The type of a product, with its number in receipts.
    public enum ProductType: Hashable, Sendable {
        /// A product that is bought once and owned permanently: 0.
        case nonConsumable
        /// A product that is used up and can be bought again: 1.
        case consumable
        /// A subscription for one period that does not renew automatically: 2.
        case nonRenewingSubscription
        /// A subscription that renews automatically: 3.
        case autoRenewableSubscription
        /// A type with another number, or without a number in a receipt of an older store.
        case unknown(Int64?)
    }

    /// The environment of the receipt.
    public internal(set) var environment: ReceiptTrust.Environment
    /// Whether the app was a volume purchase.
    public internal(set) var isVolumePurchase: Bool
    /// The app.
    public internal(set) var bundleID: String
    /// The app's version, as the app passed it in the request.
    public internal(set) var applicationVersion: String
    /// The app's version at its first purchase.
    public internal(set) var originalApplicationVersion: String
    /// The creation date of the receipt.
    public internal(set) var createdAt: Date
    /// The date after which the receipt is no longer valid; `nil` if it does not expire.
    public internal(set) var expiresAt: Date?
    /// The purchases, oldest first.
    ///
    /// Consumables are included until they are finished, all other purchases permanently.
    public internal(set) var purchases: [Purchase]

    /// The bytes that the device hash covers, and the hash itself.
    ///
    /// See ``isOf(deviceID:)``.
    var opaqueValue: [UInt8]
    var deviceHash: [UInt8]
    var bundleIDValue: [UInt8]

    /// Whether the receipt has expired at a date.
    public func isExpired(at date: Date) -> Bool { expiresAt.map { $0 <= date } ?? false }

    /// Whether the receipt belongs to a device.
    ///
    /// - Parameter deviceID: The bytes of the device identifier in the request for the receipt.
    /// - Returns: Whether the receipt's hash matches the device.
    public func isOf(deviceID: [UInt8]) -> Bool {
        Self.deviceHash(deviceID: deviceID, opaque: opaqueValue, bundleID: bundleIDValue)
            == deviceHash
    }

    /// Attribute 5: the SHA-1 hash of the device identifier, the opaque value, and the bundle
    /// identifier as encoded in its attribute.
    ///
    /// Readers of receipts expect SHA-1. It protects nothing except the binding to a device. The
    /// receipt itself is signed with SHA-256.
    package static func deviceHash(
        deviceID: [UInt8],
        opaque: [UInt8],
        bundleID: [UInt8]
    ) -> [UInt8] {
        Array(Insecure.SHA1.hash(data: deviceID + opaque + bundleID))
    }
}

/// The types of the attributes in an app receipt.
package enum AppReceiptAttribute {
    /// Attributes of the receipt.
    package static let receiptType: Int64 = 0
    package static let bundleID: Int64 = 2
    package static let applicationVersion: Int64 = 3
    package static let opaqueValue: Int64 = 4
    package static let deviceHash: Int64 = 5
    package static let createdAt: Int64 = 12
    package static let purchase: Int64 = 17
    package static let originalApplicationVersion: Int64 = 19
    package static let expiresAt: Int64 = 21

    /// Attributes of a purchase.
    package static let quantity: Int64 = 1701
    package static let productID: Int64 = 1702
    package static let productType: Int64 = 1707
    package static let transactionID: Int64 = 1703
    package static let purchasedAt: Int64 = 1704
    package static let originalTransactionID: Int64 = 1705
    package static let originalPurchasedAt: Int64 = 1706
    package static let subscriptionExpiresAt: Int64 = 1708
    package static let webOrderLineItemID: Int64 = 1711
    package static let cancelledAt: Int64 = 1712
    package static let isTrialPeriod: Int64 = 1713
    package static let isInIntroOfferPeriod: Int64 = 1719
}

extension AppReceipt.ProductType {
    private static let numbered: [Self] = [
        .nonConsumable, .consumable, .nonRenewingSubscription, .autoRenewableSubscription,
    ]

    init(number: Int64?) {
        self =
            number.flatMap { Int(exactly: $0) }.flatMap {
                Self.numbered.indices.contains($0) ? Self.numbered[$0] : nil
            } ?? .unknown(number)
    }

    /// Returns the number in receipts of a product type in signed transactions; `nil` for an
    /// unknown type.
    package static func number(ofSigned type: String) -> Int64? {
        switch type {
        case "Non-Consumable": 0
        case "Consumable": 1
        case "Non-Renewing Subscription": 2
        case "Auto-Renewable Subscription": 3
        default: nil
        }
    }
}

/// The values of attribute 0, with Apple's names.
package enum AppReceiptType: String {
    case sandbox = "ProductionSandbox"
    case production = "Production"
    case sandboxVolume = "ProductionVPPSandbox"
    case productionVolume = "ProductionVPP"

    /// Makes the value for an environment.
    package init(_ environment: ReceiptTrust.Environment, isVolumePurchase: Bool) {
        self =
            switch environment {
            case .sandbox: isVolumePurchase ? .sandboxVolume : .sandbox
            case .production: isVolumePurchase ? .productionVolume : .production
            }
    }

    /// The environment of the receipt.
    package var environment: ReceiptTrust.Environment {
        switch self {
        case .sandbox, .sandboxVolume: .sandbox
        case .production, .productionVolume: .production
        }
    }

    /// Whether the app was a volume purchase.
    package var isVolumePurchase: Bool { self == .sandboxVolume || self == .productionVolume }
}
