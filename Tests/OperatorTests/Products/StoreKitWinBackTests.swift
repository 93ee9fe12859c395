import EventTypes
import StoreAPI
import Testing

@testable import Operator

/// The win-back offers in Xcode's StoreKit files.
@Suite struct StoreKitWinBackTests {
    private func read(_ offers: String) throws -> StoreKitReader.Content {
        try ClubFile.read(offers, as: "winbackOffers")
    }

    private static let back = """
        {"offerID": "back", "referenceName": "Back", "paymentMode": "payAsYouGo",
         "numberOfPeriods": 3, "displayPrice": "0.99"}
        """

    @Test func aWinBackOfferIsReadAndWritten() throws {
        let content = try read("[\(Self.back)]")
        let text = "with the win-back offer back: payAsYouGo, 3 times P1M, 0.99 USD"
        #expect(content.notes.map(\.description).contains("taken: product app.club \(text)"))
        let offers = try #require(content.products[ClubFile.club]?.winBackOffers)
        #expect(offers.map(\.id.rawValue) == ["back"])
        let document = CatalogDocument(products: content.products)
        let written = try StoreKitWriter.write(document, in: ClubFile.usa)
        let again = try StoreKitReader.read(written.file).products[ClubFile.club]
        #expect(again?.winBackOffers == offers)
    }

    @Test func anImportKeepsWhoMayHaveIt() throws {
        let content = try read("[\(Self.back)]")
        var current = try #require(content.products[ClubFile.club])
        current.winBackOffers?[0].paidMonths = 6
        current.winBackOffers?[0].isActive = false
        let merged = StoreKitMerge.document(
            content,
            onto: CatalogDocument(products: [ClubFile.club: current])
        )
        #expect(merged.products[ClubFile.club]?.winBackOffers == current.winBackOffers)
    }
}
