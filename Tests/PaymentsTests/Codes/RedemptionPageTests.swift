import EventTypes
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
        "", "0", String(repeating: "0", count: 31), String(repeating: "A", count: 32),
        String(repeating: "0", count: 33), String(repeating: "ä", count: 16),
    ])
    func whatIsNoSecretIsNotLookedFor(text: String) {
        #expect(!RedemptionTicket.isSecret(text))
        #expect(RedemptionTicket.isSecret(RedemptionTicket.secret()))
    }
}
