import EventTypes
import StoreAPI

/// All products at one moment, and what a storefront shows of them.
///
/// Pure: no I/O, no clock, no id.
struct PriceList: Sendable {
    private(set) var products: [ProductID: Product] = [:]
    /// The identifiers of all products, in their order.
    private var order: [ProductID] = []

    /// Takes products that may be newer than what is there; an older version changes nothing.
    mutating func merge(_ newer: some Sequence<Product>) {
        let count = order.count
        for product in newer {
            if let known = products[product.id] {
                if known.version >= product.version { continue }
            } else {
                order.append(product.id)
            }
            products[product.id] = product
        }
        if order.count > count { order.sort() }
    }

    /// A page of what can be bought in a storefront, in the order of the identifiers (spec rule 98).
    ///
    /// - Parameters:
    ///   - storefront: Where.
    ///   - language: Of the texts.
    ///   - previous: The product that the page before ended with; the page begins with the next one,
    ///     also if that product is there no more.
    ///   - countMax: The most products of a page; at least 1.
    /// - Returns: The page, which says whether there is another.
    func page(
        in storefront: Storefront,
        language: LanguageTag,
        after previous: ProductID? = nil,
        countMax: Int
    ) -> ProductsResponse {
        var answer = ProductsResponse(storefront: storefront, products: [], invalidProductIDs: [])
        for id in order[start(after: previous)...] {
            guard let product = products[id],
                let listing = Self.listing(of: product, in: storefront, language: language)
            else { continue }
            if answer.products.count == countMax {
                answer.next = answer.products.last?.id
                break
            }
            answer.products.append(listing)
        }
        return answer
    }

    /// Where in the order the first product behind another stands.
    private func start(after previous: ProductID?) -> Int {
        guard let previous else { return 0 }
        var range = 0..<order.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range =
                order[middle] <= previous
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    /// Parts identifiers into the products that can be bought in a storefront, in the order asked
    /// for, and the rest (spec rules 7 and 99 to 102).
    ///
    /// An identifier given twice counts once.
    func response(
        to identifiers: [String],
        in storefront: Storefront,
        language: LanguageTag
    ) -> ProductsResponse {
        var listings: [ProductListing] = []
        var invalid: [String] = []
        var seen: Set<String> = []
        for identifier in identifiers where seen.insert(identifier).inserted {
            let product = ProductID(rawValue: identifier).flatMap { products[$0] }
            if let product,
                let listing = Self.listing(of: product, in: storefront, language: language)
            {
                listings.append(listing)
            } else {
                invalid.append(identifier)
            }
        }
        return ProductsResponse(
            storefront: storefront,
            products: listings,
            invalidProductIDs: invalid
        )
    }

    /// A product as a storefront shows it.
    ///
    /// - Returns: `nil` if it cannot be bought there.
    static func listing(
        of product: Product,
        in storefront: Storefront,
        language: LanguageTag
    ) -> ProductListing? {
        guard product.isOnSale, let price = product.prices[storefront],
            let shown = self.language(language, of: product.localizations.keys),
            let text = product.localizations[shown]
        else { return nil }
        return ProductListing(
            id: product.id,
            version: product.version,
            type: product.type,
            price: price,
            title: text.title,
            description: text.description,
            language: shown,
            isFamilyShareable: product.isFamilyShareable
        )
    }

    /// The language to show when one is asked for: the same; the same without its last parts
    /// (`zh-Hans-CN`, `zh-Hans`, `zh`); any of the same primary language; English; any.
    ///
    /// Where several fit, the first in alphabetical order, so that the answer is always the same.
    static func language(
        _ asked: LanguageTag,
        of available: some Collection<LanguageTag>
    ) -> LanguageTag? {
        func find(_ tag: String) -> LanguageTag? {
            available.first { $0.rawValue.lowercased() == tag }
        }
        var tag = asked.rawValue.lowercased()
        while true {
            if let found = find(tag) { return found }
            guard let hyphen = tag.lastIndex(of: "-") else { break }
            tag = String(tag[..<hyphen])
        }
        func first(ofPrimary primary: String) -> LanguageTag? {
            available.filter { $0.rawValue.lowercased().hasPrefix(primary + "-") }.min()
        }
        return first(ofPrimary: tag) ?? find("en") ?? first(ofPrimary: "en") ?? available.min()
    }
}
