import EventTypes
import StoreAPI

/// All products at one moment, and their listings in a storefront.
///
/// Pure: no I/O, no clock, no id.
struct PriceList: Sendable {
    private(set) var products: [ProductID: Product] = [:]
    /// The subscription groups that have a name.
    private(set) var groups: [SubscriptionGroupID: SubscriptionGroup] = [:]
    /// The identifiers of all products, in their order.
    private var order: [ProductID] = []

    /// Merges products that may be newer than those in the list; older versions are ignored.
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

    /// Merges names of groups that may be newer than those in the list; older versions are ignored.
    mutating func merge(groups newer: some Sequence<SubscriptionGroup>) {
        for group in newer where (groups[group.id]?.version ?? 0) < group.version {
            groups[group.id] = group
        }
    }

    /// Returns a page of the products on sale in a storefront, in the order of their identifiers
    /// (spec rule 98).
    ///
    /// - Parameters:
    ///   - storefront: The storefront.
    ///   - language: The language of the texts.
    ///   - previous: The last product of the previous page. The page begins with the next one, even
    ///     if that product no longer exists.
    ///   - countMax: The maximum number of products on the page; at least 1.
    ///   - time: The present.
    /// - Returns: The page, which says whether there is another one.
    func page(
        in storefront: Storefront,
        language: LanguageTag,
        after previous: ProductID? = nil,
        countMax: Int,
        at time: StoreTime
    ) -> ProductsResponse {
        var answer = ProductsResponse(storefront: storefront, products: [], invalidProductIDs: [])
        for id in order[start(after: previous)...] {
            guard let product = products[id],
                let listing = listing(of: product, in: storefront, language: language, at: time)
            else { continue }
            if answer.products.count == countMax {
                answer.next = answer.products.last?.id
                break
            }
            answer.products.append(listing)
        }
        return answer
    }

    /// The index in `order` of the first product after another.
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

    /// Divides identifiers into products on sale in a storefront, in the requested order, and
    /// invalid ones (spec rules 7 and 99 to 102).
    ///
    /// A repeated identifier counts once.
    func response(
        to identifiers: [String],
        in storefront: Storefront,
        language: LanguageTag,
        at time: StoreTime
    ) -> ProductsResponse {
        var listings: [ProductListing] = []
        var invalid: [String] = []
        var seen: Set<String> = []
        for identifier in identifiers where seen.insert(identifier).inserted {
            let product = ProductID(rawValue: identifier).flatMap { products[$0] }
            if let product,
                let listing = listing(of: product, in: storefront, language: language, at: time)
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

    /// Returns the listing of a product in a storefront at a time.
    ///
    /// - Returns: `nil` if the product is not on sale there.
    func listing(
        of product: Product,
        in storefront: Storefront,
        language: LanguageTag,
        at time: StoreTime
    ) -> ProductListing? {
        let product = product.inForce(at: time)
        guard product.isOnSale, let price = product.prices[storefront],
            let shown = Self.language(language, of: product.localizations.keys),
            let text = product.localizations[shown]
        else { return nil }
        let names = product.subscription.flatMap { groups[$0.groupID]?.localizations } ?? [:]
        let offers = product.promotionalOffers.filter(\.isActive)
            .compactMap { NamedOfferListing(id: $0.id, of: $0.terms, in: storefront) }
        let winBackOffers = product.winBackOffers.filter { $0.canBeHad(at: time) }
            .compactMap { NamedOfferListing(id: $0.id, of: $0.terms, in: storefront) }
        return ProductListing(
            id: product.id,
            version: product.version,
            type: product.type,
            price: price,
            title: text.title,
            description: text.description,
            language: shown,
            isFamilyShareable: product.isFamilyShareable,
            subscription: product.subscription,
            subscriptionGroupName: Self.language(language, of: names.keys).flatMap {
                names[$0]?.name
            },
            introductoryOffer: product.introductoryOffer.flatMap {
                OfferListing(of: $0, in: storefront)
            },
            promotionalOffers: offers.isEmpty ? nil : offers,
            winBackOffers: winBackOffers.isEmpty ? nil : winBackOffers
        )
    }

    /// Chooses the available language that fits the requested one best.
    ///
    /// The order is: the same language; the same without its last parts (`zh-Hans-CN`, `zh-Hans`,
    /// `zh`); one with the same primary language; English; any.
    ///
    /// If several fit equally, the first in alphabetical order is chosen, so the answer is always
    /// the same.
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
