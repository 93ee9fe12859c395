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
        product: String = "com.example.coins",
        failure: String? = nil
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
            failureReason: failure,
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

    private static func posting(
        _ entries: [(String, Int64)],
        kind: String = "purchase"
    ) -> Story.Posting {
        Story.Posting(
            kind: kind,
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

    @Test func aRequestOfTheBuyerIsDecidedOnItsOwnPage() {
        var story = Self.story()
        let transaction = Transaction(
            id: story.transactionID,
            originalID: story.transactionID,
            reason: .purchase,
            version: 2,
            state: .purchased,
            accountID: story.accountID,
            bundleID: story.bundleID,
            productID: story.productID,
            productVersion: 1,
            productType: .consumable,
            quantity: 1,
            storefront: story.storefront,
            price: story.price,
            applicationUsername: nil,
            deliveryPlan: [],
            requestedAt: Self.start
        )
        var request = RequestedRefund(number: 2, of: transaction, because: .legal, at: Self.start)
        let visitor = Visitor.sample([.support])
        #expect(!page(story, visitor).contains("id=\"asked\""))
        for (state, words) in [
            (RequestedRefund.State.open, "and not here"), (.approved, "which is safe"),
        ] {
            request.state = state
            story.refundRequest = request
            let markup = page(story, visitor)
            #expect(markup.contains(words))
            #expect(markup.contains("href=\"/refund-requests/1000001/2\""))
            #expect(!page(story, .sample([.read])).contains("id=\"asked\""))
        }
        request.state = .declined
        story.refundRequest = request
        #expect(!page(story, visitor).contains("id=\"asked\""), "another refund is no mistake")
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
        let right = PostingsTable.sums(of: Self.posting([("a", 99), ("b", -99)]).entries)
        #expect(right == [Self.money(0)])
        let wrong = PostingsTable(postings: [Self.posting([("a", 99), ("b", -98)])])
        #expect(wrong.html.markup.contains("class=\"tone-bad\" data-sum=\"1\""))
    }

    @Test func aPageHasNoCommandsOfTheTerminal() {
        #expect(!page(Self.story(.deferred), .sample([.read])).contains("counterfoil approve"))
    }

    @Test func whatWasGivenBackIsSaidAndIsNotGivenBackAgain() {
        var story = Self.story()
        story.postings.append(Self.posting([("buyer:ada", 30), ("refunds", -30)], kind: "refund"))
        let visitor = Visitor.sample([.support, .read])
        let part = page(story, visitor)
        for words in [
            "paid, partly given back", "<dt>given back so far</dt><dd>0.30 USD</dd>",
            "(0.30 USD was given back already)",
            "<th scope=\"row\" title=\"buyer:ada\">the buyer</th>",
        ] {
            #expect(part.contains(words), "\(words)")
        }
        story.postings.append(Self.posting([("buyer:ada", 69), ("refunds", -69)], kind: "refund"))
        #expect(!page(story, visitor).contains("id=\"refund\""))
        story.postings.append(
            Self.posting([("buyer:ada", -99), ("refunds", 99)], kind: "refund_reversal")
        )
        #expect(PurchaseWords.state(of: story) == "paid")
        #expect(page(story, visitor).contains("id=\"refund\""))
    }

    @Test func eachFailureHasWords() {
        let reasons = [
            "paymentCancelled", "paymentDeclined", "insufficientFunds", "approvalDeclined",
            "approvalExpired", "processorRefused", "storefrontChanged", "paymentsNotAllowed",
            "interrupted", "buyerMustAct", "subscriptionChanged",
        ]
        for reason in reasons {
            #expect(PurchaseWords.failure(reason) != reason)
        }
        #expect(PurchaseWords.failure("outOfOrder") == "outOfOrder")
    }

    @Test func theProductIsALinkForWhoMaySeeIt() {
        let link = "<a href=\"/products/com.example.coins\">"
        #expect(page(Self.story(), .sample([.read])).contains(link))
        #expect(!page(Self.story(), .sample([.support])).contains(link))
    }

    @Test func technicalStepsStandApartUnlessTheyNeedAttention() {
        func step(_ kind: String, isProblem: Bool = false) -> Story.Step {
            Story.Step(
                time: Self.start,
                service: .processor,
                kind: kind,
                text: "a \(kind)",
                isProblem: isProblem
            )
        }
        let steps = [step("state"), step("event"), step("posting"), step("event", isProblem: true)]
        let parts = Timeline(steps: steps).html.markup.components(separatedBy: "<details>")
        #expect(parts.count == 2 && parts[1].contains("2 technical steps"))
        #expect(
            parts[0].contains("a state") && parts[0].contains("needs attention: </strong>a event")
        )
        #expect(!Timeline(steps: [step("event")]).html.markup.contains("<details>"))
    }

    @Test func eachStepHasTheTimeSinceTheFirstOne() {
        let steps = [("posting", 0), ("state", 35), ("state", 1200)].map { kind, milliseconds in
            Story.Step(
                time: Self.start.advanced(by: .milliseconds(milliseconds)),
                service: .processor,
                kind: kind,
                text: "a \(kind)"
            )
        }
        let parts = Timeline(steps: steps).html.markup.components(separatedBy: "<details>")
        // The first one may be among the technical steps.
        for (part, since) in [
            (parts.first, "+35 ms<"), (parts.first, "+1 s<"), (parts.last, "+0 ms<"),
        ] {
            #expect(part?.contains(since) == true, "\(since)")
        }
    }

    @Test func aTechnicalStepNamesItsTraceWhichASearchFinds() {
        let id = "4bf92f3577b34da6a3ce929d0e0e4736"
        func step(_ kind: String) -> Story.Step {
            Story.Step(
                time: Self.start,
                service: .processor,
                kind: kind,
                text: "a \(kind)",
                traceID: id
            )
        }
        let markup = Timeline(steps: [step("state"), step("event")]).html.markup
        let parts = markup.components(separatedBy: "<details>")
        #expect(parts.count == 2 && !parts[0].contains(id), "plain steps have plain words")
        #expect(parts.last?.contains("<a href=\"/search?q=\(id)\">\(id)</a>") == true)
    }

    @Test func aReceiptIsLinkedOnceItIsSignedForWhoMaySeeIt() {
        var story = Self.story()
        let link = "<a href=\"/purchases/1000001/receipt\">Its receipt</a>"
        #expect(!page(story, .sample([.support])).contains(link))
        story.steps.append(
            Story.Step(
                time: Self.start,
                service: .service(.receipts),
                kind: "receipt",
                text: "signed"
            )
        )
        #expect(page(story, .sample([.support])).contains(link))
        #expect(!page(story, .sample([.read])).contains(link))
    }

    @Test func webhooksAreSentAgainAndAnInterruptedPaymentIsResumed() {
        var story = Self.story()
        #expect(!page(story, .sample([.support])).contains("id=\"resend\""))
        story.steps.append(
            Story.Step(
                time: Self.start,
                service: .service(.fulfillment),
                kind: "webhook",
                text: "sent"
            )
        )
        #expect(page(story, .sample([.support])).contains("id=\"resend\""))
        #expect(!page(story, .sample([.read])).contains("id=\"resend\""))
        let interrupted = Self.story(.failed, failure: "interrupted")
        #expect(page(interrupted, .sample([.support])).contains("id=\"resume\""))
        let production = Visitor.sample([.support], isSandbox: false)
        #expect(!page(interrupted, production).contains("id=\"resume\""))
        #expect(!page(Self.story(.failed), .sample([.support])).contains("id=\"resume\""))
    }

    @Test func aPageSaysTheZoneOfItsTimes() {
        let text = page(Self.story(), .sample([.read]))
        #expect(text.contains("2026-11-21 ") && text.contains("All times are in UTC."))
    }
}
