import Foundation
import Testing

@testable import EventTypes

/// Subscriptions that are read and written without Foundation's coders, held against those.
@Suite struct PlainSubscriptionTests {
    private static let events = [
        "subscription.changed", "optional/subscription.changed.act",
        "optional/subscription.changed.extended", "optional/subscription.changed.offer",
        "optional/subscription.changed.refunded", "optional/subscription.changed.unpaid",
    ]

    private static let time = StoreTime(millisecondsSinceEpoch: 1_790_000_000_123)
    private static let price = Money(minorUnits: 999, currency: Currency(unchecked: "USD"))
    private static let product = SubscriptionProduct(
        id: ProductID(unchecked: "club.monthly"),
        terms: SubscriptionTerms(
            groupID: SubscriptionGroupID(unchecked: "club"),
            level: 2,
            period: SubscriptionPeriod(1, .month)
        ),
        price: price
    )
    private static let offer = PeriodOffer(
        type: .promotional,
        id: OfferID(unchecked: "spring"),
        mode: .payAsYouGo,
        period: SubscriptionPeriod(1, .month),
        numberOfPeriods: 3,
        number: 2,
        price: Money(minorUnits: 499, currency: Currency(unchecked: "USD")),
        introductory: .comesFirst
    )
    private static let key = RenewalChargeKey(
        subscriptionID: TransactionID(unchecked: "900000000000001"),
        period: 3,
        epoch: 2,
        attempt: 4
    )

    /// A subscription that has every member.
    private static var whole: Subscription {
        var period = PaidPeriod(
            transactionID: TransactionID(unchecked: "900000000000002"),
            reason: .renewal,
            product: product,
            price: price,
            offer: offer,
            anchor: time,
            number: 2,
            start: time,
            end: StoreTime(millisecondsSinceEpoch: 1_793_000_000_000),
            charge: key,
            refunded: Money(minorUnits: 100, currency: Currency(unchecked: "USD")),
            earlyEnd: EarlyEnd(time: time, reason: .upgraded)
        )
        period.extendedFrom = time
        var charge = RenewalCharge(
            key: key,
            product: product,
            offer: offer,
            storefront: Storefront(unchecked: "USA"),
            startedAt: time
        )
        charge.endsPeriod = true
        var subscription = Subscription(
            accountID: AccountID(unchecked: "ada"),
            bundleID: BundleID(unchecked: "com.example.shop"),
            storefront: Storefront(unchecked: "USA"),
            firstPeriod: period
        )
        subscription.id = TransactionID(unchecked: "900000000000001")
        subscription.version = 7
        subscription.state = .inGracePeriod
        subscription.earlierPeriod = period
        subscription.epoch = 2
        subscription.pendingProduct = product
        subscription.pendingOffer = offer
        subscription.priceIncrease = PriceIncrease(
            id: PriceChangeID(unchecked: "7:1299USD:0"),
            productID: product.id,
            price: product.price,
            effectiveAt: time,
            status: .pending,
            askedAt: time
        )
        subscription.priceIncrease?.notice = 2_592_000_000
        subscription.raisedAt = time
        subscription.autoRenewOffReason = .customer
        subscription.recentStart = StoreTime(millisecondsSinceEpoch: -1)
        subscription.attempts = 4
        subscription.lastTry = time
        subscription.charge = charge
        subscription.renewalProblem = .billing
        subscription.gracePeriodEnd = time
        subscription.billingRetryEnd = time
        subscription.expirationIntent = .billingError
        subscription.extensions = [
            PeriodExtension(
                id: "outage-7",
                days: 3,
                reasonCode: 3,
                transactionID: period.transactionID,
                extendedAt: time,
                end: period.end
            )
        ]
        subscription.paidTime = PaidTime(months: 3, days: 7)
        subscription.wonBackAt = time
        return subscription
    }

    private func foundationEncoded(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func change(_ subscription: Subscription) -> SubscriptionChanged {
        SubscriptionChanged(
            subscription: subscription,
            cause: .renewed,
            changedAt: Self.time,
            environment: "Sandbox"
        )
    }

    /// The members that have no value, at any depth.
    private func missing(in value: Any, at path: String = "") -> [String] {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional {
            guard let child = mirror.children.first else { return [path] }
            return missing(in: child.value, at: path)
        }
        return mirror.children.flatMap { child in
            missing(in: child.value, at: path + "." + (child.label ?? ""))
        }
    }

    @Test func theTestedSubscriptionHasEveryMember() {
        #expect(missing(in: Self.whole) == [])
    }

    @Test func everyMemberIsWrittenAsFoundationDoesAndReadsBack() throws {
        let whole = Self.whole
        #expect(String(decoding: whole.json, as: UTF8.self) == (try foundationEncoded(whole)))
        #expect(Subscription(json: whole.json) == whole)
        let bare = Subscription(
            accountID: AccountID(unchecked: "ada"),
            bundleID: BundleID(unchecked: "com.example.shop"),
            storefront: Storefront(unchecked: "USA"),
            firstPeriod: PaidPeriod(
                transactionID: TransactionID(unchecked: "900000000000001"),
                reason: .purchase,
                product: Self.product,
                price: Self.price,
                anchor: Self.time,
                number: 1,
                start: Self.time,
                end: Self.time
            )
        )
        #expect(String(decoding: bare.json, as: UTF8.self) == (try foundationEncoded(bare)))
        #expect(Subscription(json: bare.json) == bare)
    }

    @Test(arguments: events)
    func anEventIsReadAndWrittenAsFoundationDoes(name: String) throws {
        let bytes = try Fixture.bytes("events/v1/\(name).json")
        let plain = try #require(SubscriptionChanged(json: bytes))
        #expect(plain == (try JSONDecoder().decode(SubscriptionChanged.self, from: Data(bytes))))
        let written = try #require(plain.json())
        #expect(String(decoding: written, as: UTF8.self) == (try foundationEncoded(plain)))
    }

    @Test func everyMemberOfAnEventIsWrittenAsFoundationDoesAndReadsBack() throws {
        var event = change(Self.whole)
        event.transactionID = TransactionID(unchecked: "900000000000002")
        event.posting = PostingReference(
            id: try #require(EventID("0192d0a0-0000-7000-8000-000000000001")),
            taxBasisPoints: 1900,
            gross: Self.price
        )
        event.changedPeriods = [Self.whole.period, Self.whole.period]
        event.refundedTransactionID = TransactionID(unchecked: "900000000000002")
        event.act = Act(
            decidedBy: AdministratorName(unchecked: "maria"),
            reason: ActReason(rawValue: "asked by mail")
        )
        #expect(missing(in: event) == [])
        let written = try #require(event.json())
        #expect(String(decoding: written, as: UTF8.self) == (try foundationEncoded(event)))
        #expect(SubscriptionChanged(json: written) == event)
    }

    @Test func aChangeOfTheQueueIsWrittenAsFoundationDoes() throws {
        let event = QueueSubscriptionChanged(revision: 12, subscription: Self.whole)
        let written = try #require(event.json())
        #expect(String(decoding: written, as: UTF8.self) == (try foundationEncoded(event)))
        #expect(try EventCoding.decode(QueueSubscriptionChanged.self, from: written) == event)
    }

    @Test func whatIsMissingOrNotPlainIsLeftToFoundation() throws {
        let text = String(decoding: Self.whole.json, as: UTF8.self)
        for name in [
            "id", "version", "accountID", "bundleID", "storefront", "state", "period", "epoch",
            "startedAt", "recentStart", "attempts", "price", "refunded", "terms", "key", "reason",
        ] {
            let without = text.replacing("\"\(name)\":", with: "\"other\":")
            #expect(without != text)
            #expect(Subscription(json: Array(without.utf8)) == nil, "\(name)")
        }
        let escaped = text.replacing("\"ada\"", with: "\"\\u0061da\"")
        #expect(Subscription(json: Array(escaped.utf8)) == nil)
        for count in 0..<text.utf8.count {
            #expect(Subscription(json: Array(text.utf8.prefix(count))) == nil)
        }
    }

    @Test func aMemberThatMayBeMissingMayBeNull() throws {
        let text = String(decoding: Self.whole.json, as: UTF8.self)
        let withNull = text.replacing(
            "\"gracePeriodEnd\":\(Self.time.millisecondsSinceEpoch)",
            with: "\"gracePeriodEnd\": null"
        )
        #expect(withNull != text)
        var subscription = Self.whole
        subscription.gracePeriodEnd = nil
        #expect(Subscription(json: Array(withNull.utf8)) == subscription)
    }
}
