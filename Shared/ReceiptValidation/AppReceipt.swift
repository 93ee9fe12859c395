import Crypto
public import Foundation

/// What an app receipt says: the app, and what the account has bought in it.
///
/// A ``ReceiptValidator`` makes one of what it believes.
public struct AppReceipt: Hashable, Sendable {
    /// One purchase.
    public struct Purchase: Hashable, Sendable {
        /// How many were bought.
        public internal(set) var quantity = 1
        /// What was bought.
        public internal(set) var productID = ""
        /// Which type the product is.
        public internal(set) var productType = ProductType.unknown(nil)
        /// The purchase's own number.
        public internal(set) var transactionID = ""
        /// The number of the first purchase of what this one renews or restores.
        public internal(set) var originalTransactionID = ""
        /// When it was bought, renewed or restored.
        public internal(set) var purchasedAt = Date.distantPast
        /// When it was first bought.
        public internal(set) var originalPurchasedAt = Date.distantPast
        /// When a subscription's period ends; `nil` for everything else.
        public internal(set) var expiresAt: Date?
        /// When it was refunded or revoked.
        public internal(set) var cancelledAt: Date?
        /// The number of a subscription's period.
        public internal(set) var webOrderLineItemID: Int64?
        /// Whether a subscription's period has the introductory price.
        public internal(set) var isInIntroOfferPeriod: Bool?
    }

    /// The type of a product, as receipts number it.
    public enum ProductType: Hashable, Sendable {
        /// Bought once, owned for good: 0.
        case nonConsumable
        /// Used up, and bought again: 1.
        case consumable
        /// A period that does not renew by itself: 2.
        case nonRenewingSubscription
        /// Renews by itself: 3.
        case autoRenewableSubscription
        /// Another number, or none: an older store did not say.
        case unknown(Int64?)
    }

    /// The environment that the receipt was made in.
    public internal(set) var environment: ReceiptTrust.Environment
    /// Whether the app was bought in volume.
    public internal(set) var isVolumePurchase: Bool
    /// The app.
    public internal(set) var bundleID: String
    /// The app's version, as it said when it asked.
    public internal(set) var applicationVersion: String
    /// The version that was first bought.
    public internal(set) var originalApplicationVersion: String
    /// When the receipt was made.
    public internal(set) var createdAt: Date
    /// From when on it is no longer good; `nil` for ever.
    public internal(set) var expiresAt: Date?
    /// What was bought, the oldest first.
    ///
    /// Consumables are here until they are finished, everything else always.
    public internal(set) var purchases: [Purchase]

    /// The bytes that the hash was made of and with: see ``isOf(deviceID:)``.
    var opaqueValue: [UInt8]
    var deviceHash: [UInt8]
    var bundleIDValue: [UInt8]

    /// Whether the receipt is no longer good.
    public func isExpired(at date: Date) -> Bool { expiresAt.map { $0 <= date } ?? false }

    /// Whether the receipt was made for a device.
    ///
    /// - Parameter deviceID: The bytes that it was asked for with.
    /// - Returns: Whether the receipt's hash is of that device.
    public func isOf(deviceID: [UInt8]) -> Bool {
        Self.deviceHash(deviceID: deviceID, opaque: opaqueValue, bundleID: bundleIDValue)
            == deviceHash
    }

    /// Attribute 5: SHA-1 over the device's id, the opaque value and the bundle id as it stands in
    /// its attribute.
    ///
    /// SHA-1 is the form that readers of receipts expect. Nothing rests on it but which device a
    /// receipt was made for: the receipt itself is signed over SHA-256.
    package static func deviceHash(
        deviceID: [UInt8],
        opaque: [UInt8],
        bundleID: [UInt8]
    ) -> [UInt8] {
        Array(Insecure.SHA1.hash(data: deviceID + opaque + bundleID))
    }
}

/// The numbers of the attributes in an app receipt.
package enum AppReceiptAttribute {
    /// Of the receipt.
    package static let receiptType: Int64 = 0
    package static let bundleID: Int64 = 2
    package static let applicationVersion: Int64 = 3
    package static let opaqueValue: Int64 = 4
    package static let deviceHash: Int64 = 5
    package static let createdAt: Int64 = 12
    package static let purchase: Int64 = 17
    package static let originalApplicationVersion: Int64 = 19
    package static let expiresAt: Int64 = 21

    /// Of one purchase.
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

    /// The number in a receipt of a type that a signed transaction names; `nil` for another word.
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

/// What attribute 0 says of a receipt, in Apple's words.
package enum AppReceiptType: String {
    case sandbox = "ProductionSandbox"
    case production = "Production"
    case sandboxVolume = "ProductionVPPSandbox"
    case productionVolume = "ProductionVPP"

    /// The word for an environment.
    package init(_ environment: ReceiptTrust.Environment, isVolumePurchase: Bool) {
        self =
            switch environment {
            case .sandbox: isVolumePurchase ? .sandboxVolume : .sandbox
            case .production: isVolumePurchase ? .productionVolume : .production
            }
    }

    /// Where it was made.
    package var environment: ReceiptTrust.Environment {
        switch self {
        case .sandbox, .sandboxVolume: .sandbox
        case .production, .productionVolume: .production
        }
    }

    /// Whether the app was bought in volume.
    package var isVolumePurchase: Bool { self == .sandboxVolume || self == .productionVolume }
}
