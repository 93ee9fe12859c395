package import EventTypes

/// The parts of a product that people change: whether it is on sale, its prices, the units that it
/// credits, and its texts.
package struct ProductWish: Hashable, Sendable {
    /// Whether it can be bought.
    package var isOnSale: Bool
    /// The unit price in each storefront in which it is sold.
    package var prices: [Storefront: Money]
    /// The change of the price in each storefront that has one by its time.
    package var priceChanges: [Storefront: PriceChange]
    /// The amount of each unit that one purchase credits.
    ///
    /// No unit can be added or left out.
    package var credits: [String: Int64]
    /// The title and the description in each language.
    package var texts: [LanguageTag: ProductText]

    /// The parts of a product as they are.
    package init(_ product: Product) {
        isOnSale = product.isOnSale
        prices = product.prices
        priceChanges = product.priceChanges
        credits = product.credits
        texts = product.localizations
    }

    /// The wish without the scheduled prices that it ends.
    ///
    /// A scheduled price ends with another price in its storefront, unless it is scheduled anew.
    package func settled(against product: Product) -> ProductWish {
        var wish = self
        wish.priceChanges = priceChanges.filter { storefront, change in
            change != product.priceChanges[storefront]
                || prices[storefront] == product.prices[storefront]
        }
        return wish
    }
}

extension Product {
    /// The amount of each unit that one purchase credits; a plan names each unit once.
    package var credits: [String: Int64] {
        var credits: [String: Int64] = [:]
        for case .credit(let unit, let amount) in deliveryPlan { credits[unit] = amount }
        return credits
    }
}
