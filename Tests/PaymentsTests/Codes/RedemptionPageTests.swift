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

    @Test(arguments: [
        ("SPRING-27 (three months).", "SPRING-27 (three months)."), ("", ""),
        ("a&b<c>\"d'", "a&amp;b&lt;c&gt;&quot;d&#39;"), ("über 5 €", "über 5 €"),
        ("a\nb\u{7F}", "a\u{FFFD}b\u{FFFD}"),
    ])
    func onlyWhatHasAMeaningInHTMLIsEscaped(text: String, escaped: String) {
        #expect(RedemptionPage.escaped(text) == escaped)
    }

    /// The page says how a payment stands, of whose answer it reads nothing else.
    @Test func theStateOfAPaymentIsReadFromItsAnswer() {
        func state(_ answer: String) -> TransactionState? {
            RedemptionRoutes.state(in: Array(answer.utf8))
        }
        let price = #""price":{"currency":"USD","minorUnits":99}"#
        let deferred = #"{"act":{"state":"x"},"transaction":{\#(price),"state":"deferred"}}"#
        #expect(state(deferred) == .deferred)
        #expect(state(#"{"transaction":{"state":"purchased","version":2}}"#) == .purchased)
        // What is not plain is left to the decoder of events.
        #expect(state(#"{"transaction":{"applicationUsername":"ä","state":"purchased"}}"#) == nil)
        #expect(state(#"{"transaction":{"version":2}}"#) == nil)
        #expect(state("") == nil)
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
