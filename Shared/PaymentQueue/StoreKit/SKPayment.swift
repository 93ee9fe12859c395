import Synchronization

/// A payment: a product and the number of units to buy.
///
/// ``SKMutablePayment`` is a payment that can be changed before it is added. The queue keeps a copy
/// (spec rule 29), so the one that can be changed stays with its creator.
public class SKPayment: Hashable,
    @unchecked Sendable  // Only a final class may go without. Its variables are in a mutex.
{
    struct Fields: Hashable, Sendable {
        var productIdentifier: String
        var quantity = 1
        var applicationUsername: String?
        var requestData: [UInt8]?
        var simulatesAskToBuyInSandbox = false
        var paymentDiscount: SKPaymentDiscount?
        /// The promotional offer as a signed JWS, with its id.
        var promotionalOffer: SignedPromotionalOffer?
        /// The decision of the merchant's server about the introductory offer, as a signed JWS.
        var introductoryOfferEligibility: String?
        /// The id of the win-back offer.
        var winBackOffer: String?
        /// The promoted purchase that this payment answers (spec rule 116).
        var purchaseIntentID: String?
    }

    private let guarded: Mutex<Fields>
    final fileprivate(set) var fields: Fields {
        get { guarded.withLock { $0 } }
        set { guarded.withLock { $0 = newValue } }
    }
    /// The product with the price that the buyer saw.
    public final let product: SKProduct

    /// The product's identifier.
    public var productIdentifier: String { fields.productIdentifier }
    /// The number of units to buy.
    public var quantity: Int { fields.quantity }
    /// The app's own opaque name for the buyer (spec rule 30).
    public var applicationUsername: String? { fields.applicationUsername }
    /// Reserved by StoreKit.
    ///
    /// A payment that has it fails with ``SKError/Code/unauthorizedRequestData``.
    public var requestData: [UInt8]? { fields.requestData }
    /// Whether the sandbox asks for approval before it charges.
    public var simulatesAskToBuyInSandbox: Bool { fields.simulatesAskToBuyInSandbox }

    /// The promotional offer that the payment redeems.
    public var paymentDiscount: SKPaymentDiscount? { fields.paymentDiscount }

    /// Makes a payment for one unit of a product.
    public init(product: SKProduct) {
        self.product = product
        guarded = Mutex(Fields(productIdentifier: product.productIdentifier))
    }

    init(product: SKProduct, fields: Fields) {
        self.product = product
        guarded = Mutex(fields)
    }

    /// An immutable copy.
    func copy() -> SKPayment { SKPayment(product: product, fields: fields) }

    /// A mutable copy.
    public func mutableCopy() -> SKMutablePayment {
        SKMutablePayment(product: product, fields: fields)
    }

    /// Whether two payments have equal fields.
    public static func == (left: SKPayment, right: SKPayment) -> Bool {
        left.fields == right.fields
    }

    /// Hashes the payment's fields.
    public func hash(into hasher: inout Hasher) { hasher.combine(fields) }
}

/// A promotional offer that the merchant's server has signed as a JWS.
struct SignedPromotionalOffer: Hashable, Sendable {
    /// The identifier of the offer.
    var offerID: String
    /// The JWS.
    var compactJWS: String
}

/// A payment that can be changed until it is added to the queue.
public final class SKMutablePayment: SKPayment,
    @unchecked Sendable  // A subclass has to repeat it. This one adds no variable.
{
    /// The product's identifier.
    public override var productIdentifier: String {
        get { fields.productIdentifier }
        set { fields.productIdentifier = newValue }
    }
    /// The number of units to buy.
    public override var quantity: Int {
        get { fields.quantity }
        set { fields.quantity = newValue }
    }
    /// The app's own opaque name for the buyer.
    public override var applicationUsername: String? {
        get { fields.applicationUsername }
        set { fields.applicationUsername = newValue }
    }
    /// Reserved by StoreKit.
    ///
    /// A payment that has it fails with ``SKError/Code/unauthorizedRequestData``.
    public override var requestData: [UInt8]? {
        get { fields.requestData }
        set { fields.requestData = newValue }
    }
    /// The promotional offer that the payment redeems.
    public override var paymentDiscount: SKPaymentDiscount? {
        get { fields.paymentDiscount }
        set { fields.paymentDiscount = newValue }
    }
    /// The promotional offer as a signed JWS.
    var promotionalOffer: SignedPromotionalOffer? {
        get { fields.promotionalOffer }
        set { fields.promotionalOffer = newValue }
    }
    /// The decision of the merchant's server about the introductory offer, as a signed JWS.
    var introductoryOfferEligibility: String? {
        get { fields.introductoryOfferEligibility }
        set { fields.introductoryOfferEligibility = newValue }
    }
    /// The id of the win-back offer that the payment redeems.
    package var winBackOffer: String? {
        get { fields.winBackOffer }
        set { fields.winBackOffer = newValue }
    }
    /// Whether the sandbox asks for approval before it charges.
    public override var simulatesAskToBuyInSandbox: Bool {
        get { fields.simulatesAskToBuyInSandbox }
        set { fields.simulatesAskToBuyInSandbox = newValue }
    }
}

/// ``SKPayment`` without its prefix.
public typealias Payment = SKPayment

/// ``SKMutablePayment`` without its prefix.
public typealias MutablePayment = SKMutablePayment
