import EventTypes
import StoreAPI
import TestSupport
import Testing

extension SampleCatalog {
    /// The catalog, in which the club has an offer of three months.
    ///
    /// - Parameters:
    ///   - cents: The price of each month.
    ///   - add: Adds the offer with these terms to the club.
    /// - Returns: The catalog.
    /// - Throws: An error if the file of the catalog cannot be read.
    static func offering(
        for cents: Int64 = 99,
        _ add: (_ terms: OfferTerms, _ club: inout ProductDraft) -> Void
    ) throws -> CatalogDocument {
        var document = try Self.document()
        var draft = try #require(document.products[club])
        let terms = OfferTerms(
            mode: .payAsYouGo,
            period: SubscriptionPeriod(1, .month),
            numberOfPeriods: 3,
            prices: draft.prices.mapValues { Money(minorUnits: cents, currency: $0.currency) }
        )
        add(terms, &draft)
        document.products[club] = draft
        return document
    }
}
