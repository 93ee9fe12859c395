import EventTypes
public import Foundation
import ReceiptValidation

/// A purchase as the store signed it.
///
/// It arrives in a ``VerificationResult`` that contains the result of the signature check. Restored
/// copies are not included (spec rule 71). ``currentEntitlements`` lists what the account owns.
public struct Transaction: Identifiable, Hashable, Sendable, CustomDebugStringConvertible {
    /// The relation between the buyer and the account that owns the product.
    public struct OwnershipType: RawRepresentable, Hashable, Sendable {
        /// The value in the JWS.
        public let rawValue: String
        /// Makes an ownership type from its value.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The account bought the product itself.
        public static let purchased = OwnershipType(rawValue: "PURCHASED")
        /// Another member of the family bought it, and shares it.
        public static let familyShared = OwnershipType(rawValue: "FAMILY_SHARED")
    }

    /// The reason why the transaction was made.
    public struct Reason: RawRepresentable, Hashable, Sendable {
        /// The value in the JWS.
        public let rawValue: String
        /// Makes a reason from its value.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The buyer made a purchase.
        public static let purchase = Reason(rawValue: "PURCHASE")
        /// A subscription renewed automatically.
        public static let renewal = Reason(rawValue: "RENEWAL")
    }

    /// The reason why a purchase was refunded or revoked.
    public struct RevocationReason: RawRepresentable, Hashable, Sendable {
        /// The number in the JWS.
        public let rawValue: Int
        /// Makes a reason from its number.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// The refund was due to an issue in the app.
        public static let developerIssue = RevocationReason(rawValue: 1)
        /// The refund had another reason.
        public static let other = RevocationReason(rawValue: 0)
    }

    /// The kind of a refund or revocation.
    public struct RevocationType: RawRepresentable, Hashable, Sendable {
        /// The value in the JWS.
        public let rawValue: String
        /// Makes a type from its value.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// All of the price was refunded.
        public static let fullRefund = RevocationType(rawValue: "REFUND_FULL")
        /// A part of the price was refunded.
        public static let proratedRefund = RevocationType(rawValue: "REFUND_PRORATED")
        /// The family no longer shares it with the account.
        public static let familyRevocation = RevocationType(rawValue: "FAMILY_REVOKE")
    }

    let jws: SignedText
    private let payload: JWSTransaction
    /// The same transaction in the queue.
    ///
    /// It is used to finish the transaction.
    let source: SKPaymentTransaction

    /// The transaction's number in the store.
    public let id: UInt64
    /// The number of the first transaction of the same purchase.
    public let originalID: UInt64

    init?(_ jws: SignedText, payload: JWSTransaction, of source: SKPaymentTransaction) {
        guard let id = UInt64(payload.transactionId),
            let originalID = UInt64(payload.originalTransactionId)
        else { return nil }
        self.jws = jws
        self.payload = payload
        self.source = source
        self.id = id
        self.originalID = originalID
    }

    /// The product's identifier.
    public var productID: String { payload.productId }
    /// The type of the product.
    public var productType: Product.ProductType { Product.ProductType(rawValue: payload.type) }
    /// The bundle identifier of the app in which the product was bought.
    public var appBundleID: String { payload.bundleId }
    /// The UUID that the app passed with the purchase:
    /// ``Product/PurchaseOption/appAccountToken(_:)``, or an ``SKPayment/applicationUsername`` that
    /// is a UUID.
    public var appAccountToken: UUID? { payload.appAccountToken }
    /// The date of the purchase.
    public var purchaseDate: Date { payload.purchaseDate }
    /// The date of the first transaction of the same purchase.
    public var originalPurchaseDate: Date { payload.originalPurchaseDate }
    /// The end of the subscription's period; `nil` for all other products.
    ///
    /// The period begins at ``purchaseDate``.
    public var expirationDate: Date? { payload.expiresDate }
    /// Whether an upgrade ended the subscription's period early.
    public var isUpgraded: Bool { payload.isUpgraded ?? false }
    /// The group of the subscription; `nil` for all other products.
    public var subscriptionGroupID: String? { payload.subscriptionGroupIdentifier }
    /// The offer with which the subscription's period is paid; `nil` if there is none.
    public var offer: Offer? {
        Offer(
            type: payload.offerType,
            id: payload.offerIdentifier,
            discountType: payload.offerDiscountType,
            period: payload.offerPeriod
        )
    }
    /// The number of units that were bought.
    public var purchasedQuantity: Int { payload.quantity }
    /// The total price that was paid, in units of ``currency``; `nil` if the store does not provide
    /// it.
    public var price: Decimal? { payload.price.map { Decimal($0) / 1000 } }
    /// The currency of ``price``.
    public var currency: Locale.Currency? { payload.currency.map { Locale.Currency($0) } }
    /// The storefront of the purchase.
    public var storefront: Storefront? { payload.storefront.map(Storefront.init(countryCode:)) }
    /// The storefront of the purchase as an ISO 3166-1 alpha-3 code.
    public var storefrontCountryCode: String { payload.storefront ?? "" }
    /// The relation between the buyer and the account.
    public var ownershipType: OwnershipType {
        payload.inAppOwnershipType.map(OwnershipType.init(rawValue:)) ?? .purchased
    }
    /// The reason why the transaction was made.
    public var reason: Reason { payload.transactionReason.map(Reason.init(rawValue:)) ?? .purchase }
    /// The environment of the purchase: production or sandbox.
    public var environment: AppStore.Environment {
        AppStore.Environment(rawValue: payload.environment)
    }
    /// The date of the refund or revocation that took the product away; `nil` if the buyer has the
    /// product.
    public var revocationDate: Date? { payload.revocationDate }
    /// The reason for the refund or revocation; `nil` if there was none.
    public var revocationReason: RevocationReason? {
        payload.revocationReason.map(RevocationReason.init(rawValue:))
    }
    /// The kind of the refund or revocation; `nil` if there was none, or if it was reversed.
    ///
    /// A refund of a part may leave the product to the buyer: then ``revocationDate`` is `nil`.
    public var revocationType: RevocationType? {
        payload.revocationType.map(RevocationType.init(rawValue:))
    }
    /// The part of the price that was refunded, in percent from 0 to 100; `nil` if nothing was
    /// refunded, or if all refunds were reversed.
    public var revocationPercentage: Decimal? {
        payload.revocationPercentage.map { Decimal($0) / 1000 }
    }
    /// Whether the store signed it after all refunds and reversals that the queue knows of.
    func hasRefunds(of transaction: SKPaymentTransaction) -> Bool {
        let fields = transaction.fields
        guard (revocationDate != nil) == (fields.revocationDate != nil) else { return false }
        guard let refunded = fields.refundedMilliPercent else {
            // A free product may be revoked, and no part of its price is refunded.
            return revocationDate != nil || revocationType == nil
        }
        // A full refund may be signed without a percentage.
        let full: Int64? = revocationType == .fullRefund ? 100_000 : nil
        return refunded == payload.revocationPercentage ?? full
    }

    /// The date of the signature.
    ///
    /// A refund is signed again.
    public var signedDate: Date { payload.signedDate }
    /// The signed payload as JSON.
    public var jsonRepresentation: Data { jws.payload }

    /// A short description of the transaction.
    public var debugDescription: String {
        "\(productID) ×\(purchasedQuantity), \(id)" + (revocationDate == nil ? "" : ", revoked")
    }

    /// Whether both values come from the same signed JWS.
    public static func == (left: Transaction, right: Transaction) -> Bool { left.jws == right.jws }

    /// Hashes the signed JWS.
    public func hash(into hasher: inout Hasher) { hasher.combine(jws) }

    /// Finishes the transaction and waits until the store has recorded it.
    ///
    /// Call it after delivery.
    ///
    /// - Throws: ``SKError`` if the store refuses, or `CancellationError`.
    public func finish() async throws { try await source.finish() }
}

extension SKStorefront {
    fileprivate init(countryCode: String) {
        self.init(EventTypes.Storefront(unchecked: countryCode))
    }
}
