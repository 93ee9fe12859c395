import EventTypes
public import Foundation
import StoreAPI

/// A product as the buyer's storefront shows it (spec rules 101 and 102).
public final class SKProduct: Sendable, Hashable, CustomStringConvertible {
    /// The four types of product (spec rule 93).
    public enum Kind: Hashable, Sendable {
        /// Bought again and again.
        case consumable
        /// Bought once, owned for good.
        case nonConsumable
        /// Renews by itself.
        case autoRenewable
        /// A period that does not renew by itself.
        case nonRenewable
        /// A type that a newer store knows.
        case unknown(String)
    }

    /// The product's identifier.
    public let productIdentifier: String
    /// The name shown to the buyer.
    public let localizedTitle: String
    /// The sentence shown below it.
    public let localizedDescription: String
    /// Which of the four types it is.
    public let kind: Kind
    /// What one of it costs, in units of the currency of ``priceLocale``.
    public let price: Decimal
    /// How the price is written: the product's language with the storefront's currency.
    public let priceLocale: Locale
    /// Whether the buyer's family may use it.
    ///
    /// What the catalog says; the store itself shares nothing yet.
    public let isFamilyShareable: Bool
    /// Whether a purchase comes with content to download from the store.
    public var isDownloadable: Bool { !downloadContentLengths.isEmpty }
    /// How many bytes each content has that a purchase would download now.
    ///
    /// The store hosts one for a product, or none.
    public let downloadContentLengths: [Int64]
    /// The version of the content that a purchase would download now; empty where there is none.
    public let downloadContentVersion: String
    /// The price as the store knows it, sent along with a payment so that nobody pays another.
    let money: Money
    /// The storefront that the price is of.
    let storefront: String

    init(_ listing: ProductListing, storefront: String, content: OfferedContent? = nil) {
        self.storefront = storefront
        isFamilyShareable = listing.isFamilyShareable
        downloadContentLengths = content.map { [$0.length] } ?? []
        downloadContentVersion = content?.version.rawValue ?? ""
        productIdentifier = listing.id.rawValue
        localizedTitle = listing.title
        localizedDescription = listing.description
        kind = Kind(listing.type)
        money = listing.price
        price = listing.price.decimal
        let language = listing.language.rawValue.replacing("-", with: "_")
        priceLocale = Locale(identifier: "\(language)@currency=\(listing.price.currency)")
    }

    /// As much of a product as a transaction tells: what one of it cost, what it downloads, and no
    /// words.
    init(of transaction: EventTypes.Transaction, contents: [HostedContent]) {
        isFamilyShareable = false
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
    }

    /// The price as the buyer reads it, such as `$0.99`.
    public var displayPrice: String {
        price.formatted(priceFormatStyle)
    }

    /// How prices of this product are written.
    var priceFormatStyle: Decimal.FormatStyle.Currency {
        .currency(code: money.currency.rawValue).locale(priceLocale)
    }

    /// The product in a few words.
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
    /// Writes a product's price, so that code written for a price that is an `NSDecimalNumber`
    /// compiles.
    public func string(from price: Decimal) -> String? {
        string(from: price as NSDecimalNumber)
    }
}
