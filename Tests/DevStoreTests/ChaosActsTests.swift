import EventTypes
import StoreAPI
import StoreHarness
import Testing

@testable import devstore

/// The rules that the buyers of a chaos run see broken.
@Suite struct ChaosActsTests {
    private static let terms = SubscriptionTerms(
        groupID: SubscriptionGroupID(unchecked: "club"),
        level: 1,
        period: SubscriptionPeriod(1, .month)
    )

    /// A purchase of the first period of an offer.
    private func purchase(
        _ number: Int64,
        by account: String = "ada",
        with type: OfferType,
        state: TransactionState = .purchased
    ) -> Transaction {
        let id = TransactionID(number: number)
        return Transaction(
            id: id,
            originalID: id,
            reason: .purchase,
            version: 1,
            state: state,
            accountID: AccountID(unchecked: account),
            bundleID: StoreKeys.bundleID,
            productID: SampleCatalog.club,
            productVersion: 1,
            productType: .autoRenewableSubscription,
            quantity: 1,
            storefront: SampleCatalog.usa,
            price: SampleCatalog.usd(99),
            applicationUsername: nil,
            deliveryPlan: [.entitlement],
            requestedAt: StoreTime(millisecondsSinceEpoch: 0),
            subscription: TransactionPeriod(
                terms: Self.terms,
                offer: PeriodOffer(
                    type: type,
                    mode: .payAsYouGo,
                    period: Self.terms.period,
                    price: SampleCatalog.usd(99)
                )
            )
        )
    }

    @Test func aSecondIntroductoryOfferOfAnAccountIsNamed() {
        let acts = ChaosActs(redemptionsMax: 1)
        // A queue may tell of one purchase again, and of one that has failed.
        for _ in 1...2 { acts.see(purchase(1, with: .introductory)) }
        acts.see(purchase(2, with: .introductory, state: .failed))
        acts.see(purchase(3, by: "ben", with: .introductory))
        #expect(acts.complaints == [])
        acts.see(purchase(4, with: .introductory))
        #expect(acts.complaints == [#"ada has 2 introductory offers: ["1", "4"]"#])
    }

    @Test func aCodeThatIsUsedTooOftenIsNamed() {
        let acts = ChaosActs(redemptionsMax: 1)
        acts.see(purchase(1, with: .code))
        acts.see(purchase(2, by: "ben", with: .code, state: .failed))
        #expect(acts.complaints == [])
        acts.see(purchase(3, by: "ben", with: .code))
        #expect(acts.complaints == ["a code for 1 was redeemed 2 times"])
    }

    @Test func anExtensionOfAllThatIsCountedWronglyIsNamed() {
        let acts = ChaosActs(redemptionsMax: 1)
        var request = MassExtension(
            number: 1,
            bundleID: StoreKeys.bundleID,
            productID: SampleCatalog.club,
            requestIdentifier: "all",
            days: 5,
            reasonCode: 0,
            acceptedAt: StoreTime(millisecondsSinceEpoch: 0)
        )
        request.succeededCount = 2
        acts.note(request)
        #expect(acts.complaints == [])
        acts.note(extended: 2)
        #expect(acts.complaints == [])
        acts.note(extended: 3)
        let wrong = "the extension of all subscribers counts 2, and 3 subscriptions have it"
        #expect(acts.complaints == [wrong])
    }

    @Test func eachKindOfOfferIsCounted() {
        let acts = ChaosActs(redemptionsMax: 1)
        acts.see(purchase(1, with: .promotional))
        acts.see(purchase(2, with: .winBack))
        acts.see(purchase(3, with: .winBack, state: .failed))
        acts.see(purchase(4, with: .introductory))
        // The merchant's server may give any number of them.
        for number in 5...6 {
            var again = purchase(Int64(number), with: .introductory)
            again.subscription?.offer?.introductory = .again
            acts.see(again)
        }
        let happened = acts.counts.filter { $0.count > 0 }.map { "\($0.count) \($0.name)" }
        #expect(
            happened == [
                "1 introductory offers", "2 introductory offers given once more",
                "1 promotional offers", "1 subscribers won back",
            ]
        )
        #expect(acts.complaints == [])
    }

    private func increase(_ id: String, _ status: PriceIncreaseStatus) -> PriceIncrease {
        PriceIncrease(
            id: PriceChangeID(unchecked: id),
            productID: SampleCatalog.gold,
            price: SampleCatalog.usd(6299),
            effectiveAt: StoreTime(millisecondsSinceEpoch: 0),
            status: status
        )
    }

    @Test func eachRaiseIsCountedOnceWithItsAnswer() {
        let acts = ChaosActs(redemptionsMax: 1)
        let (first, second) = (TransactionID(number: 1), TransactionID(number: 2))
        // Buyers see each several times, and some answers only in a later list.
        for _ in 1...2 {
            acts.note(increase("a", .scheduled), of: first)
            acts.note(increase("a", .pending), of: first)
            acts.note(increase("a", .pending), of: second)
        }
        acts.note(increase("a", .agreed), of: first)
        acts.note(increase("b", .declined), of: first)
        acts.note(increase("c", .notified), of: second)
        let happened = acts.counts.filter { $0.count > 0 }.map { "\($0.count) \($0.name)" }
        #expect(
            happened == [
                "4 prices raised", "1 raises agreed to", "1 raises declined", "1 raises unanswered",
            ]
        )
    }

    @Test func actsThatNeverHappenedAreInTheReport() {
        let acts = ChaosActs(redemptionsMax: 1)
        acts.note(.extended)
        var share = purchase(1, with: .introductory)
        share.reason = .familyShared
        share.subscription = nil
        acts.see(share)
        let happened = acts.counts.filter { $0.count > 0 }.map(\.name)
        #expect(happened == ["purchases shared", "periods extended"])
        #expect(acts.counts.contains { $0.name == "refunds asked for" && $0.count == 0 })
    }
}
