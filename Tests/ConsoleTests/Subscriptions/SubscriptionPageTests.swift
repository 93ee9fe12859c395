import EventTypes
import StoreAPI
import Testing

@testable import Console
@testable import OperatorCore

@Suite struct SubscriptionPageTests {
    private static let usd = Currency(unchecked: "USD")
    private static let start = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
    private static let end = start.advanced(by: .seconds(30 * 86_400))

    private static func listed(
        product: String = "club",
        offer: PeriodOffer? = nil,
        _ edit: (inout Subscription) -> Void = { _ in }
    ) -> ListedSubscription {
        let sold = SubscriptionProduct(
            id: ProductID(unchecked: product),
            terms: SubscriptionTerms(
                groupID: SubscriptionGroupID(unchecked: "clubs"),
                level: 1,
                period: SubscriptionPeriod(1, .month)
            ),
            price: Money(minorUnits: 299, currency: usd)
        )
        var subscription = Subscription(
            accountID: AccountID(unchecked: "ada"),
            bundleID: BundleID(unchecked: "com.example.app"),
            storefront: Storefront(unchecked: "USA"),
            firstPeriod: PaidPeriod(
                transactionID: TransactionID(number: 7),
                reason: .purchase,
                product: sold,
                price: offer?.price ?? sold.price,
                offer: offer,
                anchor: start,
                number: 1,
                start: start,
                end: end
            )
        )
        edit(&subscription)
        return ListedSubscription(subscription: subscription, actionAt: end)
    }

    private static func page(
        _ listed: ListedSubscription,
        _ visitor: Visitor = .sample([.support])
    ) -> String {
        let story = Story(
            transactionID: listed.subscription.id,
            orderID: nil,
            accountID: listed.subscription.accountID,
            bundleID: listed.subscription.bundleID,
            productID: listed.subscription.product.id,
            quantity: 1,
            price: listed.subscription.period.price,
            storefront: listed.subscription.storefront,
            state: .purchased,
            failureReason: nil,
            revokedAt: nil,
            postings: [],
            steps: ["subscription", "posting"].map {
                Story.Step(time: start, service: .service(.payments), kind: $0, text: "a \($0)")
            },
            waitsFor: []
        )
        return SubscriptionLifePage(
            listed: listed,
            story: story,
            visitor: visitor,
            key: "key-0"
        ).html.markup
    }

    @Test func theNextChargeIsSaidWithItsOffer() {
        let offer = PeriodOffer(
            type: .introductory,
            mode: .payAsYouGo,
            period: SubscriptionPeriod(1, .month),
            numberOfPeriods: 3,
            price: Money(minorUnits: 99, currency: Self.usd)
        )
        let facts = SubscriptionFacts(Self.listed(offer: offer))
        #expect(
            facts.next
                == "0.99 USD for club at \(PlainWords.second(Self.end)), lower price by the introductory offer, period 2 of 3"
        )
        let paid = facts.lines.first { $0.name == "paid for it" }?.value
        #expect(paid == "0.99 USD, lower price by the introductory offer, period 1 of 3")
        let free = PeriodOffer(
            type: .winBack,
            id: OfferID(unchecked: "come_back"),
            mode: .freeTrial,
            period: SubscriptionPeriod(1, .month),
            numberOfPeriods: 1,
            price: Money(minorUnits: 0, currency: Self.usd)
        )
        #expect(SubscriptionFacts.words(for: free) == "free trial by the win-back offer come_back")
        let cancelled = Self.listed { $0.autoRenewOffReason = .customer }
        #expect(SubscriptionFacts(cancelled).next == "no charge, cancelled")
    }

    @Test func anUnpaidOneSaysUntilWhenItIsTried() {
        let listed = Self.listed {
            $0.state = .inBillingRetryPeriod
            $0.attempts = 3
            $0.lastTry = Self.end
            $0.billingRetryEnd = Self.end.advanced(by: .seconds(86_400))
        }
        let facts = SubscriptionFacts(listed)
        #expect(facts.tone == .bad)
        #expect(facts.lines.contains { $0.name == "charged again until" })
        #expect(facts.lines.contains { $0.value.hasPrefix("3, the last at ") })
    }

    @Test func onlyItsLifeIsShownAndTextsAreText() {
        let page = Self.page(Self.listed(product: "<b>"))
        #expect(page.contains("a subscription") && !page.contains("a posting"))
        #expect(!page.contains("<b>") && page.contains("&lt;b&gt;"))
    }

    @Test func itLeadsToItsProductWhereThatMayBeSeen() {
        let link = "<a href=\"/products/club\">club</a>"
        #expect(Self.page(Self.listed(), .sample([.read])).contains(link))
        #expect(!Self.page(Self.listed(), .sample([.support])).contains(link))
    }

    @Test func aFormThatRenewsHasAKeySoThatItRenewsOnce() {
        let key = "name=\"key\" value=\"key-0\""
        #expect(Self.page(Self.listed(), .sample([.support])).contains(key))
        #expect(!Self.page(Self.listed(), .sample([.support], isSandbox: false)).contains(key))
    }

    @Test func theActsFollowTheStateAndTheScope() {
        func acts(_ listed: ListedSubscription, _ visitor: Visitor) -> [String] {
            let page = Self.page(listed, visitor)
            return SubscriptionAct.allCases.map(\.rawValue).filter {
                page.contains("<dialog id=\"\($0)\"")
            }
        }
        let owing = Self.listed { $0.state = .inBillingRetryPeriod }
        let changing = Self.listed {
            $0.state = .inBillingRetryPeriod
            $0.pendingProduct = $0.product
        }
        let unpaid = Self.listed { $0.state = .inGracePeriod }
        let cancelled = Self.listed { $0.autoRenewOffReason = .customer }
        let ended = Self.listed { $0.state = .expired }
        let support = Visitor.sample([.support])
        #expect(acts(Self.listed(), support) == ["cancel", "extend", "renew"])
        #expect(acts(unpaid, support) == ["cancel", "retry"])
        #expect(acts(owing, support) == ["cancel", "charge", "retry"])
        // Choosing the running product again would withdraw the change.
        #expect(acts(changing, support) == ["cancel", "retry"])
        #expect(acts(owing, .sample([.support], isSandbox: false)) == ["cancel", "charge"])
        #expect(acts(cancelled, support) == ["resume", "extend"])
        #expect(acts(ended, support).isEmpty)
        for other in [Visitor.sample([.read]), .sample([.support], isReadOnly: true)] {
            #expect(acts(Self.listed(), other).isEmpty)
        }
        let production = Visitor.sample([.support], isSandbox: false)
        #expect(acts(Self.listed(), production) == ["cancel", "extend"])
    }

    @Test(arguments: ["state=none", "account=a%20b"])
    func aQueryThatCannotBeMeantIsRefused(text: String) throws {
        let fields = try #require(FormFields(text))
        #expect(throws: ConsoleProblem.self) { try SubscriptionPageRoutes.query(fields) }
    }

    @Test func anEmptyFieldAsksForAll() throws {
        let fields = try #require(FormFields("state=&account=&before=7"))
        #expect(
            try SubscriptionPageRoutes.query(fields)
                == SubscriptionPageQuery(before: TransactionID(number: 7))
        )
    }
}
