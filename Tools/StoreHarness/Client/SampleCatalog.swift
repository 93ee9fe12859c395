public import EventTypes
import Foundation
public import StoreAPI

/// The sample catalog in `deploy/sample/catalog.json`, and its products used in tests.
public enum SampleCatalog {
    /// A consumable that credits one hundred coins, for 0.99 USD.
    public static let coins = ProductID(unchecked: "com.example.coins.100")
    /// A non-consumable with a permanent entitlement, for 4.99 USD.
    public static let pro = ProductID(unchecked: "com.example.pro")
    /// A consumable that the app delivers by itself, for 0.59 USD.
    public static let hint = ProductID(unchecked: "com.example.hint")
    /// A consumable delivered by a webhook.
    ///
    /// It is not in the file, because each test has its own address.
    public static let gift = ProductID(unchecked: "com.example.gift")

    /// An auto-renewable subscription of a month, for 2.99 USD.
    public static let club = ProductID(unchecked: "com.example.club.monthly")
    /// A subscription of the same group with a higher level of service, for 5.99 USD.
    public static let gold = ProductID(unchecked: "com.example.club.gold.monthly")

    /// The path of the file in the package.
    public static let path = "deploy/sample/catalog.json"

    /// Reads the file.
    public static func document() throws -> CatalogDocument {
        let file = SourceTree.root.appending(path: path)
        return try JSONDecoder().decode(CatalogDocument.self, from: try Data(contentsOf: file))
    }

    /// Returns a product delivered by a webhook, for 0.99 USD.
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

    /// Returns an amount in US dollars.
    ///
    /// - Parameter cents: The number of cents.
    /// - Returns: The amount.
    public static func usd(_ cents: Int64) -> Money {
        Money(minorUnits: cents, currency: Currency(unchecked: "USD"))
    }

    /// The storefront of the United States.
    public static let usa = Storefront(unchecked: "USA")

    /// Returns the unit price in the United States.
    ///
    /// - Parameter product: One of the products in this type.
    /// - Returns: The price.
    public static func price(of product: ProductID) -> Money {
        switch product {
        case pro: usd(499)
        case hint: usd(59)
        case club: usd(299)
        case gold: usd(599)
        case basicClub: usd(149)
        case weeklyClub: usd(79)
        case yearlyClub: usd(1999)
        default: usd(99)
        }
    }
}
