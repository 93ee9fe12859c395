import EventTypes
import StoreAPI
import Testing

@testable import Console
@testable import OperatorCore

@Suite struct PurchaseListPageTests {
    private static let now = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)

    private static func page(_ purchases: [ListedPurchase], isCut: Bool = false) -> String {
        PurchaseListPage(
            purchases: purchases,
            isCut: isCut,
            visitor: .sample([.read]),
            now: now
        ).html.markup
    }

    private static func purchase(
        _ state: TransactionState,
        failure: String? = nil,
        isRevoked: Bool = false
    ) -> ListedPurchase {
        ListedPurchase(
            id: TransactionID(number: 7),
            accountID: AccountID(unchecked: "<ada>"),
            productID: ProductID(unchecked: "coins"),
            quantity: 3,
            price: Money(minorUnits: 297, currency: Currency(unchecked: "USD")),
            state: state,
            failureReason: failure,
            isRevoked: isRevoked,
            requestedAt: now.advanced(by: .seconds(-90))
        )
    }

    @Test func eachPurchaseSaysWhoseItIsAndHowItEnded() {
        let page = Self.page([
            Self.purchase(.purchased, isRevoked: true),
            Self.purchase(.failed, failure: "paymentDeclined"),
        ])
        for words in [
            "<a href=\"/purchases/7\">3 × coins</a>", "<span>2.97 USD</span>",
            ">paid, taken away</span>", ">failed: the card was declined</span>",
            "<a href=\"/accounts/%3Cada%3E\">&lt;ada&gt;</a>", "1 min 30 s ago",
        ] {
            #expect(page.contains(words), "\(words)")
        }
        #expect(!page.contains("Older ones"))
    }

    @Test func moreThanAPageLeadsToOlderOnes() {
        let page = Self.page([Self.purchase(.purchased)], isCut: true)
        #expect(page.contains("href=\"/purchases?before=7\""))
        #expect(Self.page([]).contains("Nobody has bought anything yet."))
    }
}
