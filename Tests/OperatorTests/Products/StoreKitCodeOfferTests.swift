import EventTypes
import StoreAPI
import Testing

@testable import Operator

/// The code offers in Xcode's StoreKit files.
@Suite struct StoreKitCodeOfferTests {
    private func read(_ offers: String) throws -> StoreKitReader.Content {
        try ClubFile.read(offers, as: "codeOffers")
    }

    private static let spring = """
        {"referenceName": "spring", "paymentMode": "free", "subscriptionPeriod": "P1M",
         "eligibility": ["expired", "active"], "isStackable": true}
        """

    @Test func anOfferOfCodesIsReadAndWritten() throws {
        let content = try read("[\(Self.spring)]")
        let text = "with the code offer spring: freeTrial, 1 times P1M, 0.00 USD"
        #expect(content.notes.map(\.description).contains("taken: product app.club \(text)"))
        let offers = try #require(content.products[ClubFile.club]?.codeOffers)
        #expect(offers.map(\.id.rawValue) == ["spring"])
        #expect(offers.map(\.customers) == [[.active, .expired]])
        #expect(offers.map(\.isStackable) == [true])
        let document = CatalogDocument(products: content.products)
        let written = try StoreKitWriter.write(document, in: ClubFile.usa)
        let again = try StoreKitReader.read(written.file).products[ClubFile.club]
        #expect(again?.codeOffers == offers)
    }

    @Test(arguments: [
        (
            #"{"referenceName": "two words"}"#,
            "a code offer whose referenceName 'two words' is not \(OfferID.form)"
        ),
        (
            #"{"referenceName": "spring", "eligibility": ["cat"]}"#,
            "the code offer spring for customers of the kind 'cat'"
        ),
    ])
    func anOfferThatCannotBeReadIsWrong(offer: String, problem: String) throws {
        let content = try read("[\(offer)]")
        #expect(!content.isUsable)
        #expect(content.notes.map(\.description).contains("wrong: product app.club has \(problem)"))
    }

    @Test func anImportKeepsWhatTheFileCannotKnow() throws {
        let content = try read("[\(Self.spring)]")
        let euros = Money(minorUnits: 0, currency: Currency(unchecked: "EUR"))
        var current = try #require(content.products[ClubFile.club])
        current.codeOffers?[0].isActive = false
        current.codeOffers?[0].customers = [.new]
        current.codeOffers?[0].terms.prices = [Storefront(unchecked: "FRA"): euros]
        let merged = StoreKitMerge.document(
            content,
            onto: CatalogDocument(products: [ClubFile.club: current])
        )
        let offer = try #require(merged.products[ClubFile.club]?.codeOffers?.first)
        #expect(offer.terms.prices.count == 2 && !offer.isActive)
        #expect(offer.customers == [.active, .expired])
    }
}
