import EventTypes
import Foundation
import StoreAPI
import Testing

@testable import Operator

/// The promotional offers in Xcode's StoreKit files.
@Suite struct StoreKitOfferTests {
    private static let usa = Storefront(unchecked: "USA")
    private static let club = ProductID(unchecked: "app.club")

    private func read(_ offers: String) throws -> StoreKitReader.Content {
        let file = """
            {"version": {"major": 4, "minor": 0}, "products": [], "settings": {},
             "subscriptionGroups": [{"id": "club", "subscriptions": [{"productID": "app.club",
              "groupNumber": 1, "displayPrice": "2.99", "recurringSubscriptionPeriod": "P1M",
              "adHocOffers": \(offers),
              "localizations": [{"locale": "en", "displayName": "Club"}]}]}]}
            """
        return try StoreKitReader.read(Data(file.utf8), storefront: Self.usa)
    }

    private static let spring = """
        {"offerID": "spring", "referenceName": "Spring", "paymentMode": "payAsYouGo",
         "numberOfPeriods": 3, "displayPrice": "0.99"}
        """

    @Test func aPromotionalOfferIsReadAndWritten() throws {
        let content = try read("[\(Self.spring)]")
        let text = "with the promotional offer spring: payAsYouGo, 3 times P1M, 0.99 USD"
        #expect(content.notes.map(\.description).contains("taken: product app.club \(text)"))
        let offers = try #require(content.products[Self.club]?.promotionalOffers)
        #expect(offers.map(\.id.rawValue) == ["spring"])
        let document = CatalogDocument(products: content.products)
        let written = try StoreKitWriter.write(document, in: Self.usa)
        let again = try StoreKitReader.read(written.file).products[Self.club]
        #expect(again?.promotionalOffers == offers)
    }

    @Test(arguments: [
        (#"{"offerID": "two words"}"#, "an offer whose offerID 'two words' is not \(OfferID.form)"),
        (
            #"{"offerID": "spring", "paymentMode": "barter"}"#,
            "the offer spring with the paymentMode 'barter'"
        ),
    ])
    func anOfferThatCannotBeReadIsWrong(offer: String, problem: String) throws {
        let content = try read("[\(offer)]")
        #expect(!content.isUsable)
        #expect(content.notes.map(\.description).contains("wrong: product app.club has \(problem)"))
    }

    @Test func anImportKeepsWhatTheFileCannotKnow() throws {
        let content = try read("[\(Self.spring)]")
        let france = Storefront(unchecked: "FRA")
        let euros = Money(minorUnits: 89, currency: Currency(unchecked: "EUR"))
        var current = try #require(content.products[Self.club])
        current.promotionalOffers?[0].isActive = false
        current.promotionalOffers?[0].terms.prices = [france: euros]
        func merged(_ file: StoreKitReader.Content) -> [PromotionalOffer]? {
            StoreKitMerge.document(file, onto: CatalogDocument(products: [Self.club: current]))
                .products[Self.club]?.promotionalOffers
        }
        let offer = try #require(merged(content)?.first)
        #expect(offer.terms.prices.count == 2 && !offer.isActive)
        // A file without the offer ends it in the file's storefront alone.
        let empty = try read("[]")
        #expect(merged(empty) == current.promotionalOffers)
        current.promotionalOffers = content.products[Self.club]?.promotionalOffers
        #expect(merged(empty) == nil)
    }
}
