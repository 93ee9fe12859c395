import EventTypes
import Foundation
import Testing

@testable import Payments

/// The page for codes, without a server.
@Suite struct RedemptionPageTests {
    private let account = AccountKey(
        accountID: AccountID(unchecked: "<ada>"),
        bundleID: BundleID(unchecked: "com.example.app")
    )

    @Test func theFormAndTheQuestionNameTheAccount() {
        let terms = CodeTerms(
            product: ProductID(unchecked: "club"),
            grant: OfferGrant(),
            ordinary: usd(299)
        )
        let pages = [
            RedemptionPage.form("0", of: account),
            RedemptionPage.question(terms, mark: "{}", "0", of: account, code: "SPRING"),
        ]
        for page in pages {
            #expect(page.contains("&lt;ada&gt;") && page.contains("com.example.app"))
            #expect(!page.contains("<ada>"))
        }
    }

    /// The mark is read and written without Foundation's coders, and is what those write.
    @Test func aMarkReadsBackAsTheTermsThatWereShown() throws {
        let offer = PeriodOffer(
            type: .code,
            id: OfferID(unchecked: "spring"),
            mode: .payAsYouGo,
            period: SubscriptionPeriod(1, .month),
            numberOfPeriods: 3,
            price: usd(99),
            introductory: .usedUp
        )
        for grant in [
            OfferGrant(), OfferGrant(first: offer, beginsLater: true),
            OfferGrant(first: offer, later: offer),
        ] {
            let terms = CodeTerms(
                product: ProductID(unchecked: "club"),
                grant: grant,
                ordinary: usd(299)
            )
            #expect(CodeTerms(terms.mark) == terms)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            #expect(terms.mark == String(decoding: try encoder.encode(terms), as: UTF8.self))
        }
        for text in ["", "{}", "null", #"{"grant":{},"page":"0","product":"club"}"#] {
            #expect(CodeTerms(text) == nil)
        }
    }

    @Test(arguments: [
        "", "0", String(repeating: "0", count: 31), String(repeating: "A", count: 32),
        String(repeating: "0", count: 33), String(repeating: "ä", count: 16),
    ])
    func whatIsNoSecretIsNotLookedFor(text: String) {
        #expect(!RedemptionTicket.isSecret(text))
        #expect(RedemptionTicket.isSecret(RedemptionTicket.secret()))
    }
}
