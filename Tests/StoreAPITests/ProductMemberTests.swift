import EventTypes
import StoreAPI
import Testing

/// The members of a product that administrators send, and that buyers see.
@Suite struct ProductMemberTests {
    private let product = Product(
        id: ProductID(unchecked: "coins"),
        version: 1,
        type: .consumable,
        isOnSale: true,
        isRestorable: false,
        prices: [:],
        localizations: [:],
        deliveryPlan: []
    )

    private func members(of value: some Any) -> Set<String> {
        Set(Mirror(reflecting: value).children.compactMap(\.label))
    }

    /// The catalog gives a product its id, from the path, and its version.
    ///
    /// The reason of a change is not the product's.
    @Test func aDraftHasEachMemberOfAProduct() {
        let draft = ProductDraft(type: .consumable, prices: [:], localizations: [:])
        let ofDraft = members(of: draft).subtracting(["reason"])
        #expect(ofDraft == members(of: product).subtracting(["id", "version"]))
    }

    /// A member that buyers do not see is named here.
    @Test func aListingHasEachMemberThatBuyersSee() {
        let listing = ProductListing(
            id: ProductID(unchecked: "coins"),
            version: 1,
            type: .consumable,
            price: Money(minorUnits: 1, currency: Currency(unchecked: "USD")),
            title: "Coins",
            description: "Many coins",
            language: LanguageTag(unchecked: "en")
        )
        // One price and the texts of one language stand for all. The name of the group comes from
        // the group.
        let others: Set = [
            "isOnSale", "isRestorable", "deliveryPlan", "prices", "localizations",
            "entitlements", "codeOffers", "priceChanges",
        ]
        #expect(
            members(of: listing).subtracting([
                "price", "title", "description", "language", "subscriptionGroupName",
            ]) == members(of: product).subtracting(others)
        )
    }
}
