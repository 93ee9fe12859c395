import EventTypes
import FoundationEssentials
import StoreAPI
import Testing

@testable import Console
@testable import OperatorCore

@Suite struct PurchasePageTests {
    private static let usd = Currency(unchecked: "USD")
    private static let start = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
    private static let script = "<script>alert(1)</script>"

    private static func money(_ units: Int64) -> Money {
        Money(minorUnits: units, currency: usd)
    }

    private static func story(
        _ state: TransactionState = .purchased,
        product: String = "com.example.coins"
    ) -> Story {
        let id = TransactionID(number: 1_000_001)
        return Story(
            transactionID: id,
            orderID: OrderID(id),
            accountID: AccountID(unchecked: "ada"),
            bundleID: BundleID(unchecked: "com.example.app"),
            productID: ProductID(unchecked: product),
            quantity: 1,
            price: money(99),
            storefront: Storefront(unchecked: "USA"),
            state: state,
            failureReason: nil,
            revokedAt: nil,
            postings: [posting([("processor", 99), ("revenue", -90), ("tax", -9)])],
            steps: [
                Story.Step(
                    time: start,
                    service: .processor,
                    kind: "charge",
                    text: "declined: \(script)"
                )
            ],
            waitsFor: ["Somebody has to approve it: counterfoil approve 1, or decline 1."]
        )
    }

    private static func posting(_ entries: [(String, Int64)]) -> Story.Posting {
        Story.Posting(
            kind: "charge",
            time: start,
            entries: entries.map { .init(account: $0.0, amount: money($0.1)) }
        )
    }

    private func page(_ story: Story, _ visitor: Visitor) -> String {
        PurchasePage(story: story, visitor: visitor, key: "key-1").html.markup
    }

    @Test func aTitleThatIsAScriptIsText() {
        let markup = page(Self.story(product: Self.script), .sample([.read, .support]))
        #expect(!markup.contains(Self.script))
        #expect(markup.components(separatedBy: "<script").count == 2, "the page has one of its own")
        #expect(markup.contains("declined: &lt;script&gt;alert(1)&lt;/script&gt;"))
    }

    @Test func whoOnlyReadsSeesNoAct() {
        for story in [Self.story(), Self.story(.deferred)] {
            #expect(!page(story, .sample([.read])).contains("<dialog"))
            let readOnly = Visitor.sample([.read, .support], isReadOnly: true)
            #expect(!page(story, readOnly).contains("<dialog"))
        }
    }

    @Test func whoSupportsSeesTheActsOfTheState() {
        let visitor = Visitor.sample([.support])
        let purchased = page(Self.story(), visitor)
        #expect(purchased.contains("id=\"refund\""))
        #expect(!purchased.contains("id=\"approve\""))
        let deferred = page(Self.story(.deferred), visitor)
        #expect(deferred.contains("id=\"approve\""))
        #expect(deferred.contains("id=\"decline\""))
        #expect(!deferred.contains("id=\"refund\""))
        #expect(!page(Self.story(.failed), visitor).contains("<dialog"))
    }

    @Test func aRefundNamesBuyerAmountOrderAndLoss() {
        let markup = page(Self.story(), .sample([.support]))
        for words in ["<strong>ada</strong>", "0.99 USD", "and loses it", "W0", "name=\"csrf\""] {
            #expect(markup.contains(words), "\(words)")
        }
    }

    @Test func aRefundWithoutAnAnswerCanOnlyBeRepeatedAsItWas() {
        let story = Self.story()
        let sent = SentRefund(
            transactionID: story.transactionID,
            key: IdempotencyKey(unchecked: "key-0"),
            request: RefundRequest(amount: Self.money(50), reason: ActReason(rawValue: "late"))
        )
        let visitor = Visitor.sample([.support])
        let markup = PurchasePage(story: story, visitor: visitor, key: "key-1", lost: sent)
            .html.markup
        for words in ["Repeat the refund", "0.50 USD", "“late”", "name=\"order\"", "key-0"] {
            #expect(markup.contains(words), "\(words)")
        }
        for field in ["amount", "effect", "reason"] {
            #expect(!markup.contains("name=\"\(field)\""), "\(field)")
        }
        #expect(!markup.contains("key-1"))
    }

    @Test func postingsSumToZeroAndOneThatDoesNotIsSeen() {
        let right = PostingsTable.sums(of: Self.posting([("a", 99), ("b", -99)]))
        #expect(right == [Self.money(0)])
        let wrong = PostingsTable(postings: [Self.posting([("a", 99), ("b", -98)])])
        #expect(wrong.html.markup.contains("class=\"tone-bad\" data-sum=\"1\""))
    }

    @Test func aPageHasNoCommandsOfTheTerminal() {
        #expect(!page(Self.story(.deferred), .sample([.read])).contains("counterfoil approve"))
    }
}
