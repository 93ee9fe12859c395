import EventTypes
import OperatorCore

/// The difference between a product and what is wished for it.
///
/// Pure.
struct ProductDifference: Hashable, Sendable {
    /// A part that differs.
    struct Line: Hashable, Sendable {
        let part: String
        let old: String
        let new: String
    }

    /// The parts that differ, in a fixed order.
    let lines: [Line]

    init(_ lines: [Line]) { self.lines = lines }

    init(from product: Product, to wish: ProductWish) {
        var lines: [Line] = []
        func compare(_ part: String, _ old: String, _ new: String) {
            if old != new { lines.append(Line(part: part, old: old, new: new)) }
        }
        func words(_ isOnSale: Bool) -> String { isOnSale ? "yes" : "no" }
        compare("on sale", words(product.isOnSale), words(wish.isOnSale))
        for storefront in Set(product.prices.keys).union(wish.prices.keys)
            .sorted(by: { $0.rawValue < $1.rawValue })
        {
            func words(_ price: Money?) -> String { price.map { "\($0)" } ?? "not sold" }
            compare(
                "price in \(storefront)",
                words(product.prices[storefront]),
                words(wish.prices[storefront])
            )
        }
        for (unit, amount) in wish.credits.sorted(by: { $0.key < $1.key }) {
            let old = product.credits[unit].map { "\($0)" } ?? "none"
            compare("\(unit) for each one bought", old, "\(amount)")
        }
        let changes = wish.settled(against: product).priceChanges
        for storefront in Set(product.priceChanges.keys).union(changes.keys)
            .sorted(by: { $0.rawValue < $1.rawValue })
        {
            func words(_ change: PriceChange?) -> String {
                change.map(PlainWords.scheduledPrice) ?? "none"
            }
            compare(
                "scheduled price in \(storefront)",
                words(product.priceChanges[storefront]),
                words(changes[storefront])
            )
        }
        for (language, text) in wish.texts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let old = product.localizations[language]
            compare("title in \(language)", old?.title ?? "", text.title)
            compare("description in \(language)", old?.description ?? "", text.description)
        }
        self.lines = lines
    }
}
