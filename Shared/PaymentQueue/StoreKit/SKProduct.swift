import EventTypes
public import Foundation
import StoreAPI

/// A product with the texts and the price of the buyer's storefront (spec rules 101 and 102).
public final class SKProduct: Sendable, Hashable, CustomStringConvertible {
    /// The four types of product (spec rule 93).
    public enum Kind: Hashable, Sendable {
        /// A product that can be bought again and again.
        case consumable
        /// A product that is bought once and owned permanently.
        case nonConsumable
        /// A subscription that renews automatically.
        case autoRenewable
        /// A subscription for one period that does not renew automatically.
        case nonRenewable
        /// A type that only a newer store knows.
        case unknown(String)
    }

    /// The product's identifier.
    public let productIdentifier: String
    /// The localized name of the product.
    public let localizedTitle: String
    /// The localized description of the product.
    public let localizedDescription: String
    /// The type of the product.
    public let kind: Kind
    /// The price of one unit, in the currency of ``priceLocale``.
    public let price: Decimal
    /// The locale of the price: the product's language with the storefront's currency.
    public let priceLocale: Locale
    /// Whether the buyer's family may use the product.
    ///
    /// This is the catalog's setting.
    public let isFamilyShareable: Bool
    /// Whether a purchase includes content to download from the store.
    public var isDownloadable: Bool { !downloadContentLengths.isEmpty }
    /// The length in bytes of each content that a purchase would currently download.
    ///
    /// The store hosts at most one content for a product.
    public let downloadContentLengths: [Int64]
    /// The version of the content that a purchase would currently download; empty if there is none.
    public let downloadContentVersion: String
    /// The subscription group; `nil` if the product does not renew automatically.
    ///
    /// An account has at most one running subscription in a group.
    public let subscriptionGroupIdentifier: String?
    /// The localized name of the subscription group; `nil` if it has none.
    let subscriptionGroupName: String?
    /// The length of one paid period; `nil` if the product does not renew automatically.
    public let subscriptionPeriod: SKProductSubscriptionPeriod?
    /// The offer to accounts that never had one in the product's group; `nil` if there is none.
    ///
    /// Everybody sees it. The store decides at the purchase who has it:
    /// ``Product/SubscriptionInfo/isEligibleForIntroOffer``.
    public let introductoryPrice: SKProductDiscount?
    /// The promotional offers to accounts that have, or had, a subscription in the product's group.
    ///
    /// The merchant's server decides who gets one, and signs it.
    public let discounts: [SKProductDiscount]
    /// The offers to accounts whose subscription in the product's group has ended.
    ///
    /// StoreKit 1 has no name for them: ``Product/SubscriptionInfo/winBackOffers``.
    let winBackOffers: [SKProductDiscount]
    /// The rank of the product in its group, of which 1 is the highest; `nil` if the product does
    /// not renew automatically.
    let subscriptionLevel: Int?
    /// The price as the store defines it.
    ///
    /// A payment includes it, so that nobody pays a different price.
    let money: Money
    /// The storefront of the price.
    let storefront: String

    init(_ listing: ProductListing, storefront: String, content: OfferedContent? = nil) {
        self.storefront = storefront
        isFamilyShareable = listing.isFamilyShareable
        subscriptionGroupIdentifier = listing.subscription?.groupID.rawValue
        subscriptionGroupName = listing.subscriptionGroupName
        subscriptionPeriod = listing.subscription.map { SKProductSubscriptionPeriod($0.period) }
        subscriptionLevel = listing.subscription?.level
        downloadContentLengths = content.map { [$0.length] } ?? []
        downloadContentVersion = content?.version.rawValue ?? ""
        productIdentifier = listing.id.rawValue
        localizedTitle = listing.title
        localizedDescription = listing.description
        kind = Kind(listing.type)
        money = listing.price
        price = listing.price.decimal
        let language = listing.language.rawValue.replacing("-", with: "_")
        let priceLocale = Locale(identifier: "\(language)@currency=\(listing.price.currency)")
        self.priceLocale = priceLocale
        introductoryPrice = listing.introductoryOffer.flatMap {
            SKProductDiscount($0, priceLocale: priceLocale)
        }
        discounts = (listing.promotionalOffers ?? []).compactMap {
            SKProductDiscount($0.terms, identifier: $0.id, priceLocale: priceLocale)
        }
        winBackOffers = (listing.winBackOffers ?? []).compactMap {
            SKProductDiscount($0.terms, identifier: $0.id, priceLocale: priceLocale)
        }
    }

    /// Makes a product from a transaction.
    ///
    /// It has only the unit price, the downloads, and the terms of a subscription. It has no texts.
    init(of transaction: EventTypes.Transaction, contents: [HostedContent]) {
        isFamilyShareable = false
        let terms = transaction.subscription?.terms
        subscriptionGroupIdentifier = terms?.groupID.rawValue
        subscriptionGroupName = nil
        subscriptionPeriod = terms.map { SKProductSubscriptionPeriod($0.period) }
        subscriptionLevel = terms?.level
        downloadContentLengths = contents.map(\.length)
        downloadContentVersion = contents.first?.version.rawValue ?? ""
        productIdentifier = transaction.productID.rawValue
        localizedTitle = transaction.productID.rawValue
        localizedDescription = ""
        storefront = transaction.storefront.rawValue
        kind = Kind(transaction.productType)
        let quantity = Int64(max(transaction.quantity, 1))
        money = Money(
            minorUnits: transaction.price.minorUnits / quantity,
            currency: transaction.price.currency
        )
        price = money.decimal
        priceLocale = Locale(identifier: "en@currency=\(money.currency)")
        introductoryPrice = nil
        discounts = []
        winBackOffers = []
    }

    /// The formatted price, such as `$0.99`.
    public var displayPrice: String {
        price.formatted(priceFormatStyle)
    }

    /// The format for prices of this product.
    var priceFormatStyle: Decimal.FormatStyle.Currency {
        .currency(code: money.currency.rawValue).locale(priceLocale)
    }

    /// A short description of the product.
    public var description: String { "\(productIdentifier) “\(localizedTitle)” \(displayPrice)" }

    /// Whether two products are the same at the same price.
    public static func == (left: SKProduct, right: SKProduct) -> Bool {
        left.productIdentifier == right.productIdentifier && left.money == right.money
    }

    /// Hashes the product and its price.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(productIdentifier)
        hasher.combine(money)
    }
}

extension SKProduct.Kind {
    init(_ type: ProductType) {
        switch type {
        case .consumable: self = .consumable
        case .nonConsumable: self = .nonConsumable
        case .autoRenewableSubscription: self = .autoRenewable
        case .nonRenewingSubscription: self = .nonRenewable
        case .unknown(let name): self = .unknown(name)
        }
    }
}

extension NumberFormatter {
    /// Formats a product's price.
    ///
    /// It allows code to compile that expects a price of type `NSDecimalNumber`.
    public func string(from price: Decimal) -> String? {
        string(from: price as NSDecimalNumber)
    }
}
