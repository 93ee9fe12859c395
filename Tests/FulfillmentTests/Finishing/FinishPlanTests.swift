import EventTypes
import StoreTracing
import Testing

@testable import Fulfillment

@Suite struct FinishPlanTests {
    private func queued(
        _ number: Int64,
        _ state: TransactionState = .failed,
        account: String = "alice"
    ) -> QueuedTransaction {
        QueuedTransaction(
            id: TransactionID(number: number),
            queue: .sample(account),
            version: 2,
            state: state,
            isDelivered: false
        )
    }

    private func plan(
        _ numbers: Int64...,
        in queues: [QueueKey]? = nil,
        of known: QueuedTransaction...
    ) -> FinishPlan {
        FinishPlan(
            zip(numbers, queues ?? numbers.map { _ in .sample() }).map {
                FinishRequest(
                    transactionID: TransactionID(number: $0),
                    queue: $1,
                    trace: .begin()
                )
            },
            of: Dictionary(uniqueKeysWithValues: known.map { ($0.id, $0) }),
            at: startOfTime
        )
    }

    @Test func aRepetitionInTheBatchIsAnsweredTheSameAndChangesNothingMore() {
        let plan = plan(1, 1, of: queued(1))
        #expect(plan.outcomes == [.finished(at: startOfTime), .finished(at: startOfTime)])
        #expect(plan.finishes.map(\.transactionID.number) == [1])
        #expect(plan.counts == [.sample(): 1])
    }

    @Test func eachQueueCountsItsOwnChanges() {
        let plan = plan(
            1,
            2,
            3,
            in: [.sample(), .sample("bob"), .sample()],
            of: queued(1),
            queued(2, account: "bob"),
            queued(3)
        )
        #expect(plan.finishes.map(\.ordinal) == [1, 1, 2])
        #expect(plan.counts == [.sample(): 2, .sample("bob"): 1])
    }

    @Test func whatIsRefusedIsNotCounted() {
        let plan = plan(1, 2, 9, of: queued(1, .purchasing), queued(2))
        #expect(
            plan.outcomes == [
                .refused(.purchasing), .finished(at: startOfTime), .refused(.unknown),
            ]
        )
        #expect(plan.finishes.map(\.ordinal) == [1])
    }
}
