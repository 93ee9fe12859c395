public import EventTypes
import Foundation
public import StoreAPI

/// The sample catalog of `deploy/sample/catalog.json`, and the products of it that tests name.
public enum SampleCatalog {
    /// Consumable: one hundred coins as a credit, for 0.99 USD.
    public static let coins = ProductID(unchecked: "com.example.coins.100")
    /// Non-consumable: an entitlement for good, for 4.99 USD.
    public static let pro = ProductID(unchecked: "com.example.pro")
    /// Consumable that the app delivers by itself, for 0.49 USD.
    public static let hint = ProductID(unchecked: "com.example.hint")
    /// Consumable that a merchant is told of; in no file, because the merchant's address is the
    /// test's.
    public static let gift = ProductID(unchecked: "com.example.gift")

    /// Auto-renewable subscription, for 2.99 USD; in no file, because none is sold yet.
    public static let club = ProductID(unchecked: "com.example.club.monthly")

    /// Where the file is, in the package.
    public static let path = "deploy/sample/catalog.json"

    /// Reads the file.
    public static func document() throws -> CatalogDocument {
        let file = SourceTree.root.appending(path: path)
        return try JSONDecoder().decode(CatalogDocument.self, from: try Data(contentsOf: file))
    }

    /// A product that is delivered by a webhook, for 0.99 USD.
    ///
    /// - Parameter url: The merchant's address.
    /// - Returns: The product.
    public static func gift(deliveredTo url: String) -> ProductDraft {
        ProductDraft(
            type: .consumable,
            prices: [usa: usd(99)],
            localizations: [
                LanguageTag(unchecked: "en"): ProductText(
                    title: "Gift",
                    description: "Sent by the merchant."
                )
            ],
            deliveryPlan: [.webhook(url: url)]
        )
    }

    /// The subscription that ``club`` names.
    public static func subscription() -> ProductDraft {
        ProductDraft(
            type: .autoRenewableSubscription,
            prices: [usa: usd(299)],
            localizations: [
                LanguageTag(unchecked: "en"): ProductText(
                    title: "Club, monthly",
                    description: "New levels every month."
                )
            ],
            deliveryPlan: [.entitlement]
        )
    }

    /// US dollars.
    ///
    /// - Parameter cents: How many cents.
    /// - Returns: The amount.
    public static func usd(_ cents: Int64) -> Money {
        Money(minorUnits: cents, currency: Currency(unchecked: "USD"))
    }

    /// The United States.
    public static let usa = Storefront(unchecked: "USA")

    /// The price of one in the United States.
    ///
    /// - Parameter product: One of the products named here.
    /// - Returns: The price.
    public static func price(of product: ProductID) -> Money {
        switch product {
        case pro: usd(499)
        case hint: usd(49)
        case club: usd(299)
        default: usd(99)
        }
    }
}
