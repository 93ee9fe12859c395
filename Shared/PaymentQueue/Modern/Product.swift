public import Foundation

/// A product with the texts and the price of the buyer's storefront, in the style of StoreKit 2.
///
/// ``SKProduct`` is the same product with the names of StoreKit 1.
public struct Product: Identifiable, Hashable, Sendable, CustomDebugStringConvertible {
    /// The type of a product, with StoreKit's names.
    public struct ProductType: RawRepresentable, Hashable, Sendable {
        /// The name of the type in signed transactions.
        public let rawValue: String
        /// Makes a type from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A product that can be bought again and again.
        public static let consumable = ProductType(rawValue: "Consumable")
        /// A product that is bought once and owned permanently.
        public static let nonConsumable = ProductType(rawValue: "Non-Consumable")
        /// A subscription for one period that does not renew automatically.
        public static let nonRenewable = ProductType(rawValue: "Non-Renewing Subscription")
        /// A subscription that renews automatically.
        public static let autoRenewable = ProductType(rawValue: "Auto-Renewable Subscription")
    }

    /// An option of a purchase.
    public struct PurchaseOption: Hashable, Sendable {
        enum Wish: Hashable, Sendable {
            case quantity(Int)
            case appAccountToken(UUID)
            case simulatesAskToBuyInSandbox(Bool)
            case promotionalOffer(SignedPromotionalOffer)
            case paymentDiscount(SKPaymentDiscount)
            case introductoryOfferEligibility(String)
            case winBackOffer(String)
        }

        let wish: Wish

        /// The number of units to buy.
        public static func quantity(_ quantity: Int) -> PurchaseOption {
            PurchaseOption(wish: .quantity(quantity))
        }

        /// The app's own UUID for the buyer.
        ///
        /// The signed transaction contains it (``Transaction/appAccountToken``).
        public static func appAccountToken(_ token: UUID) -> PurchaseOption {
            PurchaseOption(wish: .appAccountToken(token))
        }

        /// Whether the sandbox asks for approval before it charges.
        public static func simulatesAskToBuyInSandbox(_ simulates: Bool) -> PurchaseOption {
            PurchaseOption(wish: .simulatesAskToBuyInSandbox(simulates))
        }

        /// The promotional offer that the purchase redeems, as the merchant's server has signed it.
        ///
        /// - Parameters:
        ///   - offerID: The identifier of the offer: ``Product/SubscriptionOffer/id``.
        ///   - compactJWS: The signed JWS.
        /// - Returns: The option.
        public static func promotionalOffer(
            _ offerID: String,
            compactJWS: String
        ) -> PurchaseOption {
            let offer = SignedPromotionalOffer(offerID: offerID, compactJWS: compactJWS)
            return PurchaseOption(wish: .promotionalOffer(offer))
        }

        /// The promotional offer that the purchase redeems, signed in StoreKit's first form.
        ///
        /// - Parameters:
        ///   - offerID: The identifier of the offer.
        ///   - keyID: The identifier of the key that signed it.
        ///   - nonce: The UUID that the server has chosen for this signature.
        ///   - signature: The signature in DER.
        ///   - timestamp: The time of the signature, in milliseconds since 1970.
        /// - Returns: The option.
        public static func promotionalOffer(
            offerID: String,
            keyID: String,
            nonce: UUID,
            signature: Data,
            timestamp: Int
        ) -> PurchaseOption {
            let discount = SKPaymentDiscount(
                identifier: offerID,
                keyIdentifier: keyID,
                nonce: nonce,
                signature: signature.base64EncodedString(),
                timestamp: Int64(timestamp)
            )
            return PurchaseOption(wish: .paymentDiscount(discount))
        }

        /// The decision of the merchant's server whether the buyer gets the introductory offer.
        ///
        /// If it allows the offer, the buyer gets it also if they have had one in the group. If the
        /// buyer cannot have it, because a subscription of the group runs or the product has none, the
        /// purchase fails with ``SKError/Code/ineligibleForOffer``. If it does not allow the offer, the
        /// purchase costs the ordinary price.
        ///
        /// - Parameter compactJWS: The signed JWS.
        /// - Returns: The option.
        public static func introductoryOfferEligibility(compactJWS: String) -> PurchaseOption {
            PurchaseOption(wish: .introductoryOfferEligibility(compactJWS))
        }

        /// The win-back offer that the purchase redeems.
        ///
        /// The store decides whether the account may have it, and otherwise refuses the purchase.
        ///
        /// - Parameter offer: One of ``Product/SubscriptionInfo/winBackOffers``.
        /// - Returns: The option.
        public static func winBackOffer(_ offer: SubscriptionOffer) -> PurchaseOption {
            PurchaseOption(wish: .winBackOffer(offer.id ?? ""))
        }
    }

    /// The outcome of a purchase.
    public enum PurchaseResult: Hashable, Sendable {
        /// The buyer has paid. If the transaction is verified, deliver the product and finish the
        /// transaction.
        case success(VerificationResult<Transaction>)
        /// The buyer cancelled the purchase.
        case userCancelled
        /// The purchase waits for somebody's approval. If it succeeds, it arrives through
        /// ``Transaction/updates``.
        case pending
    }

    /// The same product with the names of StoreKit 1.
    let product: SKProduct

    init(_ product: SKProduct) { self.product = product }

    /// The product's identifier.
    public var id: String { product.productIdentifier }
    /// The type of the product.
    public var type: ProductType { ProductType(product.kind) }
    /// The localized name of the product.
    public var displayName: String { product.localizedTitle }
    /// The localized description of the product.
    public var description: String { product.localizedDescription }
    /// The price of one unit, in the currency of ``priceFormatStyle``.
    public var price: Decimal { product.price }
    /// The formatted price, such as `$0.99`.
    public var displayPrice: String { product.displayPrice }
    /// The format for prices of this product.
    ///
    /// Use it to format sums, too.
    public var priceFormatStyle: Decimal.FormatStyle.Currency { product.priceFormatStyle }
    /// Whether the buyer's family may use the product.
    ///
    /// This is the catalog's setting.
    public var isFamilyShareable: Bool { product.isFamilyShareable }

    /// A short description of the product.
    public var debugDescription: String { product.description }

    /// Asks the catalog for products and leaves out those that cannot be bought.
    ///
    /// - Throws: ``SKError``, or `CancellationError`.
    public static func products(for identifiers: some Collection<String>) async throws -> [Product]
    {
        try await SKProduct.products(for: identifiers).map(Product.init)
    }

    /// Buys the product and waits for the outcome.
    ///
    /// After the payment, the store is asked for the signed transaction until it answers. If the
    /// task is cancelled, it stops waiting but the purchase goes on. Its outcome arrives through
    /// ``Transaction/updates``.
    ///
    /// - Throws: ``SKError`` if the purchase failed, or `CancellationError`.
    public func purchase(options: Set<PurchaseOption> = []) async throws -> PurchaseResult {
        let payment = SKMutablePayment(product: product)
        for option in options {
            switch option.wish {
            case .quantity(let quantity): payment.quantity = quantity
            case .appAccountToken(let token): payment.applicationUsername = token.uuidString
            case .simulatesAskToBuyInSandbox(let asks): payment.simulatesAskToBuyInSandbox = asks
            case .promotionalOffer(let offer): payment.promotionalOffer = offer
            case .paymentDiscount(let discount): payment.paymentDiscount = discount
            case .introductoryOfferEligibility(let jws):
                payment.introductoryOfferEligibility = jws
            case .winBackOffer(let id): payment.winBackOffer = id
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

    /// The purchase that gave the account the product.
    ///
    /// See ``Transaction/currentEntitlement(for:)``.
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
