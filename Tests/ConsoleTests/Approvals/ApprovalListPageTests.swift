import EventTypes
import StoreAPI
import Testing

@testable import Console

@Suite struct ApprovalListPageTests {
    private func page(_ transactions: [DeferredTransaction], next: String? = nil) -> String {
        ApprovalListPage(
            found: DeferredResponse(next: next, transactions: transactions),
            visitor: .sample([.support])
        ).html.markup
    }

    @Test func eachLeadsToItsPurchaseAndItsAccount() {
        let waiting = DeferredTransaction(
            transactionID: TransactionID(number: 1_000_001),
            accountID: AccountID(unchecked: "<ada>"),
            bundleID: BundleID(unchecked: "com.example.app"),
            productID: ProductID(unchecked: "com.example.coins"),
            quantity: 2,
            price: Money(minorUnits: 198, currency: Currency(unchecked: "USD")),
            since: StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
        )
        let markup = page([waiting], next: "a b")
        for part in [
            "href=\"/purchases/1000001\"", "2 × com.example.coins", "1.98 USD", "&lt;ada&gt;",
            "href=\"/approvals?after=a%20b\"",
        ] { #expect(markup.contains(part), "\(part)") }
    }

    @Test func nothingThatWaitsSaysSo() {
        #expect(page([]).contains("Nothing waits for an approval"))
    }
}
