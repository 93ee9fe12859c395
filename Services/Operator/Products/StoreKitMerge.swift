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
                    onto: current.promotionalOffers ?? []
                )
                merged.codeOffers = codeOffers(
                    draft.codeOffers ?? [],
                    in: file.storefront,
                    onto: current.codeOffers ?? []
                )
                merged.winBackOffers = winBackOffers(
                    draft.winBackOffers ?? [],
                    in: file.storefront,
                    onto: current.winBackOffers ?? []
                )
            }
            products[id] = merged
        }
        return CatalogDocument(
            products: products,
            subscriptionGroups: file.groups.isEmpty ? nil : file.groups
        )
    }

    /// The file's promotional offers, each merged with the catalog's of the same id.
    ///
    /// The file does not say whether an offer is active, so that stays.
    private static func offers(
        _ offers: [PromotionalOffer],
        in storefront: Storefront,
        onto current: [PromotionalOffer]
    ) -> [PromotionalOffer]? {
        var merged = current.compactMap { known -> PromotionalOffer? in
            let told = offers.first { $0.id == known.id }
            return offer(told?.terms, in: storefront, onto: known.terms).map {
                PromotionalOffer(id: known.id, isActive: known.isActive, terms: $0)
            }
        }
        merged += offers.filter { told in !current.contains { $0.id == told.id } }
        return merged.isEmpty ? nil : merged
    }

    /// The file's offers of codes, each merged with the catalog's of the same name.
    private static func codeOffers(
        _ offers: [CodeOffer],
        in storefront: Storefront,
        onto current: [CodeOffer]
    ) -> [CodeOffer]? {
        var merged = current.compactMap { known -> CodeOffer? in
            let told = offers.first { $0.id == known.id }
            return offer(told?.terms, in: storefront, onto: known.terms).map {
                CodeOffer(
                    id: known.id,
                    isActive: known.isActive,
                    customers: told?.customers ?? known.customers,
                    isStackable: told?.isStackable ?? known.isStackable,
                    terms: $0
                )
            }
        }
        merged += offers.filter { told in !current.contains { $0.id == told.id } }
        return merged.isEmpty ? nil : merged
    }

    /// The file's win-back offers, each merged with the catalog's of the same id.
    ///
    /// The file does not say who may have one, so that stays.
    private static func winBackOffers(
        _ offers: [WinBackOffer],
        in storefront: Storefront,
        onto current: [WinBackOffer]
    ) -> [WinBackOffer]? {
        var merged = current.compactMap { known -> WinBackOffer? in
            let told = offers.first { $0.id == known.id }
            return offer(told?.terms, in: storefront, onto: known.terms).map {
                var merged = known
                merged.terms = $0
                return merged
            }
        }
        merged += offers.filter { told in !current.contains { $0.id == told.id } }
        return merged.isEmpty ? nil : merged
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
