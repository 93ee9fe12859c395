import EventTypes
import Subscriptions
import Testing

/// The consequence of a choice (rules S12 and S100 to S108).
@Suite struct ProductChoiceTests {
    private func running(
        _ product: SubscriptionProduct,
        _ change: (inout Subscription) -> Void = { _ in }
    ) throws -> Subscription {
        var story = StoryTeller()
        story.buy(product, at("2026-01-01"))
        var subscription = try #require(story.subscription)
        change(&subscription)
        return subscription
    }

    /// S12.
    @Test(arguments: [
        (silver, gold, ProductChoice.charge(replacing: silver.id)),
        (silver, silverTwin, .charge(replacing: silver.id)),
        (silver, silverYear, .schedule), (silver, bronze, .schedule),
        (silverYear, silver, .schedule), (silverYear, gold, .charge(replacing: silverYear.id)),
        (gold, bronze, .schedule), (silver, silver, .current),
    ])
    func theLevelDecidesAndBetweenEqualLevelsTheLength(
        from old: SubscriptionProduct,
        to new: SubscriptionProduct,
        choice: ProductChoice
    ) throws {
        #expect(ProductChoice.judge(new.id, new.terms, meeting: try running(old)) == choice)
    }

    @Test func withoutARunningSubscriptionEveryProductIsCharged() throws {
        #expect(
            ProductChoice.judge(bronze.id, bronze.terms, meeting: nil) == .charge(replacing: nil)
        )
        for state in [SubscriptionState.expired, .revoked] {
            let ended = try running(gold) { $0.state = state }
            #expect(
                ProductChoice.judge(bronze.id, bronze.terms, meeting: ended)
                    == .charge(replacing: nil)
            )
        }
    }

    /// S11.
    @Test func theLevelOfTodayDecides() throws {
        let choice = ProductChoice.judge(
            gold.id,
            gold.terms,
            meeting: try running(silver),
            currentLevel: 1
        )
        #expect(choice == .charge(replacing: silver.id))
        let lower = ProductChoice.judge(
            silverTwin.id,
            silverTwin.terms,
            meeting: try running(silver),
            currentLevel: 1
        )
        #expect(lower == .schedule)
    }

    /// e5 to e7 and e24.
    @Test func theRunningProductMayBeChosenAgain() throws {
        let off = try running(silver) { $0.autoRenewOffReason = .customer }
        #expect(ProductChoice.judge(silver.id, silver.terms, meeting: off) == .turnOn)
        let pending = try running(silver) { $0.pendingProduct = bronze }
        #expect(ProductChoice.judge(silver.id, silver.terms, meeting: pending) == .withdraw)
        let grace = try running(silver) { $0.state = .inGracePeriod }
        #expect(ProductChoice.judge(silver.id, silver.terms, meeting: grace) == .current)
        let retry = try running(silver) { $0.state = .inBillingRetryPeriod }
        #expect(ProductChoice.judge(silver.id, silver.terms, meeting: retry) == .chargeOwed)
    }
}
