package import EventTypes

/// The parts of a product that people change: whether it is on sale, its prices and its texts.
package struct ProductWish: Hashable, Sendable {
    /// Whether it can be bought.
    package var isOnSale: Bool
    /// The unit price in each storefront in which it is sold.
    package var prices: [Storefront: Money]
    /// The title and the description in each language.
    package var texts: [LanguageTag: ProductText]

    /// The parts of a product as they are.
    package init(_ product: Product) {
        isOnSale = product.isOnSale
        prices = product.prices
        texts = product.localizations
    }
}
