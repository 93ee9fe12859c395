import EventTypes
public import Foundation
import ReceiptValidation

/// A purchase as the store signed it.
///
/// It comes in a ``VerificationResult``, which says whether the signature holds. Copies that a restore
/// makes are not told of here (spec rule 71): what the account owns are ``currentEntitlements``.
public struct Transaction: Identifiable, Hashable, Sendable, CustomDebugStringConvertible {
    /// Who bought what is owned.
    public struct OwnershipType: RawRepresentable, Hashable, Sendable {
        /// The word in the JWS.
        public let rawValue: String
        /// Makes a type of a word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The account itself.
        public static let purchased = OwnershipType(rawValue: "PURCHASED")
        /// Another member of the family; the store shares nothing yet.
        public static let familyShared = OwnershipType(rawValue: "FAMILY_SHARED")
    }

    /// Why the transaction was made.
    public struct Reason: RawRepresentable, Hashable, Sendable {
        /// The word in the JWS.
        public let rawValue: String
        /// Makes a reason of a word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The buyer bought it.
        public static let purchase = Reason(rawValue: "PURCHASE")
        /// A subscription renewed itself.
        public static let renewal = Reason(rawValue: "RENEWAL")
    }

    /// Why a purchase was refunded or revoked.
    public struct RevocationReason: RawRepresentable, Hashable, Sendable {
        /// The number in the JWS.
        public let rawValue: Int
        /// Makes a reason of a number.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// Because of an issue in the app.
        public static let developerIssue = RevocationReason(rawValue: 1)
        /// For another reason.
        public static let other = RevocationReason(rawValue: 0)
    }

    let jws: SignedText
    private let payload: JWSTransaction
    /// The same transaction in the queue, which finishes it.
    private let source: SKPaymentTransaction

    /// Its number in the store.
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
    /// Which of the four types the product is.
    public var productType: Product.ProductType { Product.ProductType(rawValue: payload.type) }
    /// The app that it was bought in.
    public var appBundleID: String { payload.bundleId }
    /// The UUID that the app gave with the purchase (``Product/PurchaseOption/appAccountToken(_:)``,
    /// or an ``SKPayment/applicationUsername`` that is one).
    public var appAccountToken: UUID? { payload.appAccountToken }
    /// When it was bought.
    public var purchaseDate: Date { payload.purchaseDate }
    /// When the first transaction of the same purchase was bought.
    public var originalPurchaseDate: Date { payload.originalPurchaseDate }
    /// How many were bought.
    public var purchasedQuantity: Int { payload.quantity }
    /// What was paid for all of it, in units of ``currency``; `nil` if the store does not say.
    public var price: Decimal? { payload.price.map { Decimal($0) / 1000 } }
    /// The currency of ``price``.
    public var currency: Locale.Currency? { payload.currency.map { Locale.Currency($0) } }
    /// Where it was bought.
    public var storefront: Storefront? { payload.storefront.map(Storefront.init(countryCode:)) }
    /// Where it was bought, ISO 3166-1 alpha-3.
    public var storefrontCountryCode: String { payload.storefront ?? "" }
    /// Who bought it.
    public var ownershipType: OwnershipType {
        payload.inAppOwnershipType.map(OwnershipType.init(rawValue:)) ?? .purchased
    }
    /// Why it was made.
    public var reason: Reason { payload.transactionReason.map(Reason.init(rawValue:)) ?? .purchase }
    /// Where the store takes money, and where it does not.
    public var environment: AppStore.Environment {
        AppStore.Environment(rawValue: payload.environment)
    }
    /// When it was refunded or revoked; `nil` unless it was.
    public var revocationDate: Date? { payload.revocationDate }
    /// Why it was; `nil` unless it was.
    public var revocationReason: RevocationReason? {
        payload.revocationReason.map(RevocationReason.init(rawValue:))
    }
    /// When it was signed: again when it is refunded.
    public var signedDate: Date { payload.signedDate }
    /// What was signed, JSON.
    public var jsonRepresentation: Data { jws.payload }

    /// The transaction in a few words.
    public var debugDescription: String {
        "\(productID) ×\(purchasedQuantity), \(id)" + (revocationDate == nil ? "" : ", revoked")
    }

    /// Whether two were signed as one.
    public static func == (left: Transaction, right: Transaction) -> Bool { left.jws == right.jws }

    /// Hashes what was signed.
    public func hash(into hasher: inout Hasher) { hasher.combine(jws) }

    /// Finishes the transaction and waits until the store knows: what it paid for is delivered.
    ///
    /// - Throws: ``SKError`` when the store refuses, or `CancellationError`.
    public func finish() async throws { try await source.finish() }
}

extension SKStorefront {
    fileprivate init(countryCode: String) {
        self.init(EventTypes.Storefront(unchecked: countryCode))
    }
}
