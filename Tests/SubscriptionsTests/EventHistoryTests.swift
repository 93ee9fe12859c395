import EventTypes
import Subscriptions
import Testing

/// The changes that an audit reads from the log, with the refunds that they cause.
@Suite struct EventHistoryTests {
    /// A subscription that was upgraded after half a period, which gave back a half.
    private func upgrade() -> (changes: [SubscriptionHistory.Change], events: [SubscriptionChanged])
    {
        var world = SubscriptionWorld(policy())
        world.take(.choose(1))
        world.take(.answer(0, .captured))
        world.take(.wait(hours: 24 * 14))
        world.take(.choose(0))
        world.take(.answer(0, .captured))
        let changes = world.history?.changes ?? []
        let events = changes.map {
            SubscriptionChanged(
                subscription: $0.subscription,
                cause: $0.cause,
                changedAt: $0.time,
                transactionID: $0.newPeriod?.transactionID,
                changedPeriods: $0.changedPeriods.isEmpty ? nil : $0.changedPeriods,
                environment: "Sandbox"
            )
        }
        return (changes, events)
    }

    @Test func theLogSaysWhatEachChangeOwed() throws {
        let (changes, events) = upgrade()
        let owed = try #require(changes.last?.refunds.first)
        let refund = SubscriptionHistory.Refund(
            transactionID: owed.transactionID,
            amount: owed.amount
        )
        #expect(
            SubscriptionHistory.changes(events, owed: [refund], of: [refund]) == changes
        )
    }

    @Test func aRefundThatWasNotMadeIsSeen() throws {
        let (_, events) = upgrade()
        let found = SubscriptionHistory.changes(events, owed: [], of: [])
        #expect(found.flatMap(\.refunds) == [])
        // What was refunded in full otherwise is not refunded again.
        let (changes, _) = upgrade()
        let owed = try #require(changes.last?.refunds.first)
        let price = try #require(changes.first?.subscription.period.price)
        let whole = SubscriptionHistory.Refund(transactionID: owed.transactionID, amount: price)
        #expect(SubscriptionHistory.changes(events, owed: [], of: [whole]) == changes)
    }
}
