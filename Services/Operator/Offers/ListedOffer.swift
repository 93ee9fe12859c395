import EventTypes
import OperatorCore
import StoreAPI

/// An offer of a product, as the command line lists it.
struct ListedOffer: Encodable, Hashable {
    let productID: ProductID
    let type: OfferType
    /// The id; `nil` for the introductory offer, of which a product has one.
    var id: OfferID?
    var isActive = true
    let mode: OfferMode
    let period: SubscriptionPeriod
    let numberOfPeriods: Int
    let prices: [Storefront: Money]

    private init(
        _ type: OfferType,
        of product: ProductID,
        _ terms: OfferTerms,
        id: OfferID? = nil,
        isActive: Bool = true
    ) {
        productID = product
        self.type = type
        self.id = id
        self.isActive = isActive
        mode = terms.mode
        period = terms.period
        numberOfPeriods = terms.numberOfPeriods
        prices = terms.prices
    }

    /// The offers of one product of a catalog, or of all, by product and type.
    ///
    /// - Throws: ``OperatorError`` if the catalog does not have the product.
    static func all(
        in document: CatalogDocument,
        of product: ProductID? = nil
    ) throws(OperatorError) -> [ListedOffer] {
        if let product, document.products[product] == nil {
            throw OperatorError(.failed, "The catalog has no product \(product).")
        }
        return document.products.filter { product == nil || $0.key == product }
            .sorted { $0.key < $1.key }
            .flatMap { id, draft in offers(of: id, draft) }
    }

    private static func offers(of product: ProductID, _ draft: ProductDraft) -> [ListedOffer] {
        let introductory = [draft.introductoryOffer].compactMap(\.self).map {
            ListedOffer(.introductory, of: product, $0)
        }
        let promotional = (draft.promotionalOffers ?? []).map {
            ListedOffer(.promotional, of: product, $0.terms, id: $0.id, isActive: $0.isActive)
        }
        let codes = (draft.codeOffers ?? []).map {
            ListedOffer(.code, of: product, $0.terms, id: $0.id, isActive: $0.isActive)
        }
        let winBacks = (draft.winBackOffers ?? []).map {
            ListedOffer(.winBack, of: product, $0.terms, id: $0.id, isActive: $0.isActive)
        }
        return introductory + promotional + codes + winBacks
    }

    /// A table with a head.
    static func table(_ offers: [ListedOffer]) -> [[String]] {
        [["PRODUCT", "TYPE", "OFFER", "ACTIVE", "MODE", "LENGTH", "PRICES"]]
            + offers.map { offer in
                [
                    offer.productID.rawValue,
                    offer.type.rawValue,
                    offer.id?.rawValue ?? "",
                    offer.isActive ? "yes" : "no",
                    offer.mode.rawValue,
                    "\(offer.numberOfPeriods) × \(offer.period)",
                    offer.prices.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                        .joined(separator: ", "),
                ]
            }
    }
}
