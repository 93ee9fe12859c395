public import Foundation

/// A product as the buyer's storefront shows it, in the modern shape.
///
/// ``SKProduct`` is the same product with the names of the payment queue.
public struct Product: Identifiable, Hashable, Sendable, CustomDebugStringConvertible {
    /// The type of a product, by StoreKit's word.
    public struct ProductType: RawRepresentable, Hashable, Sendable {
        /// The word, as signed transactions have it.
        public let rawValue: String
        /// Makes a type of a word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Bought again and again.
        public static let consumable = ProductType(rawValue: "Consumable")
        /// Bought once, owned for good.
        public static let nonConsumable = ProductType(rawValue: "Non-Consumable")
        /// A period that does not renew by itself.
        public static let nonRenewable = ProductType(rawValue: "Non-Renewing Subscription")
        /// Renews by itself; the store does not sell it yet.
        public static let autoRenewable = ProductType(rawValue: "Auto-Renewable Subscription")
    }

    /// What a purchase is to be like.
    public struct PurchaseOption: Hashable, Sendable {
        enum Wish: Hashable, Sendable {
            case quantity(Int)
            case appAccountToken(UUID)
            case simulatesAskToBuyInSandbox(Bool)
        }

        let wish: Wish

        /// How many.
        public static func quantity(_ quantity: Int) -> PurchaseOption {
            PurchaseOption(wish: .quantity(quantity))
        }

        /// The app's own UUID for the buyer; the signed transaction carries it
        /// (``Transaction/appAccountToken``).
        public static func appAccountToken(_ token: UUID) -> PurchaseOption {
            PurchaseOption(wish: .appAccountToken(token))
        }

        /// Whether the sandbox asks for approval before it charges.
        public static func simulatesAskToBuyInSandbox(_ simulates: Bool) -> PurchaseOption {
            PurchaseOption(wish: .simulatesAskToBuyInSandbox(simulates))
        }
    }

    /// How a purchase ended.
    public enum PurchaseResult: Hashable, Sendable {
        /// Paid: deliver it if it is verified, and finish the transaction.
        case success(VerificationResult<Transaction>)
        /// The buyer called it off.
        case userCancelled
        /// Waiting for somebody's approval; a purchase comes with ``Transaction/updates``.
        case pending
    }

    /// The same product with the names of the payment queue.
    let product: SKProduct

    init(_ product: SKProduct) { self.product = product }

    /// The product's identifier.
    public var id: String { product.productIdentifier }
    /// Which of the four types it is.
    public var type: ProductType { ProductType(product.kind) }
    /// The name shown to the buyer.
    public var displayName: String { product.localizedTitle }
    /// The sentence shown below it.
    public var description: String { product.localizedDescription }
    /// What one of it costs, in units of the currency of ``priceFormatStyle``.
    public var price: Decimal { product.price }
    /// The price as the buyer reads it, such as `$0.99`.
    public var displayPrice: String { product.displayPrice }
    /// How prices of this product are written, such as sums of several.
    public var priceFormatStyle: Decimal.FormatStyle.Currency { product.priceFormatStyle }
    /// Whether the family of the buyer may use it.
    ///
    /// What the catalog says; the store itself shares nothing yet.
    public var isFamilyShareable: Bool { product.isFamilyShareable }

    /// The product in a few words.
    public var debugDescription: String { product.description }

    /// Asks the catalog for products; those that cannot be bought are left out.
    ///
    /// - Throws: ``SKError``, or `CancellationError`.
    public static func products(for identifiers: some Collection<String>) async throws -> [Product]
    {
        try await SKProduct.products(for: identifiers).map(Product.init)
    }

    /// Buys the product and waits for the outcome.
    ///
    /// Once it is paid, the store is asked for the signed transaction until it answers. A task that is
    /// cancelled stops waiting; the purchase goes on, and comes with ``Transaction/updates``.
    ///
    /// - Throws: ``SKError`` when it failed, or `CancellationError`.
    public func purchase(options: Set<PurchaseOption> = []) async throws -> PurchaseResult {
        let payment = SKMutablePayment(product: product)
        for option in options {
            switch option.wish {
            case .quantity(let quantity): payment.quantity = quantity
            case .appAccountToken(let token): payment.applicationUsername = token.uuidString
            case .simulatesAskToBuyInSandbox(let asks): payment.simulatesAskToBuyInSandbox = asks
            }
        }
        let queue = SKPaymentQueue.default()
        switch try await queue.purchase(payment) {
        case .success(let transaction):
            return .success(try await queue.verified(transaction, untilAnswered: true))
        case .pending: return .pending
        case .userCancelled: return .userCancelled
        }
    }

    /// The account's newest purchase of the product; see ``Transaction/latest(for:)``.
    public var latestTransaction: VerificationResult<Transaction>? {
        get async throws { try await Transaction.latest(for: id) }
    }

    /// The purchase that gave the account the product; see ``Transaction/currentEntitlement(for:)``.
    public var currentEntitlement: VerificationResult<Transaction>? {
        get async throws { try await Transaction.currentEntitlement(for: id) }
    }
}

extension Product.ProductType {
    init(_ kind: SKProduct.Kind) {
        switch kind {
        case .consumable: self = .consumable
        case .nonConsumable: self = .nonConsumable
        case .nonRenewable: self = .nonRenewable
        case .autoRenewable: self = .autoRenewable
        case .unknown(let word): self.init(rawValue: word)
        }
    }
}
