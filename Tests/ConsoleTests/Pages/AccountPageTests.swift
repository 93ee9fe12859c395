import EventTypes
import StoreAPI
import Testing

@testable import Console
@testable import OperatorCore

@Suite struct AccountPageTests {
    private static let now = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)

    private static func page(isCut: Bool) -> String {
        let purchase = AccountStory.Purchase(
            transactionID: TransactionID(number: 1_000_001),
            bundleID: BundleID(unchecked: "com.example.app"),
            productID: "com.example.coins",
            state: "purchased",
            isDelivered: true,
            isRevoked: false,
            finishedAt: nil,
            changedAt: now
        )
        return AccountPage(
            story: AccountStory(
                accountID: AccountID(unchecked: "ada"),
                purchases: [purchase],
                isCut: isCut,
                deadLetters: []
            ),
            visitor: .sample([.read]),
            now: now
        ).html.markup
    }

    @Test func anAccountWithMorePurchasesLeadsToOlderOnes() {
        let cut = Self.page(isCut: true)
        #expect(cut.contains("href=\"/accounts/ada?before="))
        #expect(!cut.contains("&lt;"))
        #expect(!Self.page(isCut: false).contains("Older ones"))
    }
}
