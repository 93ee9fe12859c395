import EventTypes
import StoreAPI

/// Puts what a StoreKit configuration file says onto the products that the catalog has.
///
/// A file knows one storefront and nothing of deliveries. What it cannot know stays: prices in other
/// storefronts, the delivery plan, and whether the product is on sale. The names of a group that the
/// file does not name stay, too.
enum StoreKitMerge {
    /// The document to import: the file's products, completed from the catalog.
    ///
    /// Whether a product is on sale is left out, because the catalog then leaves it alone.
    static func document(
        _ file: StoreKitReader.Content,
        onto catalog: CatalogDocument
    ) -> CatalogDocument {
        var products = file.products
        for (id, draft) in file.products {
            guard let current = catalog.products[id] else { continue }
            var merged = draft
            merged.prices = current.prices.merging(draft.prices) { _, new in new }
            // A draft of another type is refused; its members would only add problems.
            if current.type == draft.type {
                merged.isRestorable = current.isRestorable
                // The file's price ends a scheduled one, unless it is the price of today.
                merged.priceChanges = current.priceChanges?.filter {
                    merged.prices[$0.key] == current.prices[$0.key]
                }
                merged.deliveryPlan = current.deliveryPlan
                merged.entitlements = current.entitlements
                merged.introductoryOffer = offer(
                    draft.introductoryOffer,
                    in: file.storefront,
                    onto: current.introductoryOffer
                )
                merged.promotionalOffers = offers(
                    draft.promotionalOffers ?? [],
                    in: file.storefront,
                    onto: current.promotionalOffers ?? [],
                    \.id,
                    \.terms
                )
                merged.codeOffers = offers(
                    draft.codeOffers ?? [],
                    in: file.storefront,
                    onto: current.codeOffers ?? [],
                    \.id,
                    \.terms
                ) { told, merged in
                    merged.customers = told.customers
                    merged.isStackable = told.isStackable
                }
                merged.winBackOffers = offers(
                    draft.winBackOffers ?? [],
                    in: file.storefront,
                    onto: current.winBackOffers ?? [],
                    \.id,
                    \.terms
                )
            }
            products[id] = merged
        }
        return CatalogDocument(
            products: products,
            subscriptionGroups: file.groups.isEmpty ? nil : file.groups
        )
    }

    /// The file's offers of one kind, each merged with the catalog's of the same id.
    ///
    /// The file does not say whether an offer is active, nor who may have a win-back offer, so that
    /// stays.
    ///
    /// - Parameters:
    ///   - offers: The file's offers.
    ///   - storefront: The storefront of the file.
    ///   - current: The catalog's offers.
    ///   - id: The id of an offer.
    ///   - terms: The terms of an offer.
    ///   - take: Takes over what the file says of an offer beside its terms.
    /// - Returns: The offers; `nil` if there are none.
    private static func offers<Offer>(
        _ offers: [Offer],
        in storefront: Storefront,
        onto current: [Offer],
        _ id: KeyPath<Offer, OfferID>,
        _ terms: WritableKeyPath<Offer, OfferTerms>,
        _ take: (_ told: Offer, _ merged: inout Offer) -> Void = { _, _ in }
    ) -> [Offer]? {
        var all = current.compactMap { known -> Offer? in
            let told = offers.first { $0[keyPath: id] == known[keyPath: id] }
            let new = offer(told?[keyPath: terms], in: storefront, onto: known[keyPath: terms])
            guard let new else { return nil }
            var merged = known
            merged[keyPath: terms] = new
            if let told { take(told, &merged) }
            return merged
        }
        all += offers.filter { told in
            !current.contains { $0[keyPath: id] == told[keyPath: id] }
        }
        return all.isEmpty ? nil : all
    }

    /// The file's offer, with the prices of other storefronts if the catalog has the same one.
    ///
    /// A file without an offer ends the catalog's offer in its own storefront.
    private static func offer(
        _ offer: OfferTerms?,
        in storefront: Storefront,
        onto current: OfferTerms?
    ) -> OfferTerms? {
        guard var merged = current else { return offer }
        merged.prices[storefront] = nil
        guard let offer else { return merged.prices.isEmpty ? nil : merged }
        guard offer.mode == merged.mode, offer.period == merged.period,
            offer.numberOfPeriods == merged.numberOfPeriods
        else { return offer }
        merged.prices.merge(offer.prices) { _, new in new }
        return merged
    }
}
