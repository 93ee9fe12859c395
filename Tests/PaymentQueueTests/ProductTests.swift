import EventTypes
import Foundation
import StoreAPI
import Testing

@testable import PaymentQueue

/// What the app is told of a product is what the catalog says (spec rules 101 and 102).
@Suite struct ProductTests {
    private static let listing = ProductListing(
        id: ProductID(unchecked: "com.example.pro"),
        version: 3,
        type: .nonConsumable,
        price: Money(minorUnits: 1_299, currency: Currency(unchecked: "EUR")),
        title: "Pro",
        description: "Everything, for ever.",
        language: LanguageTag(unchecked: "de-DE")
    )

    @Test func aProductHasTheTitleAndTheDescriptionOfItsListing() {
        let product = SKProduct(Self.listing, storefront: "DEU")
        #expect(product.productIdentifier == "com.example.pro")
        #expect(product.localizedTitle == "Pro")
        #expect(product.localizedDescription == "Everything, for ever.")
        #expect(product.kind == .nonConsumable)
    }

    @Test func aProductHasThePriceOfItsListingAsTheBuyerReadsIt() {
        let product = SKProduct(Self.listing, storefront: "DEU")
        #expect(product.price == Decimal(string: "12.99"))
        #expect(product.priceLocale.identifier == "de_DE@currency=EUR")
        #expect(product.displayPrice.filter { !$0.isWhitespace } == "12,99€")
        #expect(product.storefront == "DEU")
    }

    @Test(arguments: [
        (ProductType.consumable, SKProduct.Kind.consumable),
        (.nonConsumable, .nonConsumable), (.autoRenewableSubscription, .autoRenewable),
        (.nonRenewingSubscription, .nonRenewable), (.unknown("rental"), .unknown("rental")),
    ])
    func aProductHasTheTypeOfItsListing(type: ProductType, kind: SKProduct.Kind) {
        var listing = Self.listing
        listing.type = type
        #expect(SKProduct(listing, storefront: "DEU").kind == kind)
    }
}
