import Dispatch
import EventTypes
import Synchronization
import TestSupport
import Testing

@testable import PaymentQueue

/// The rounds in which the store is asked for the pages of payments.
@Suite struct BuyerActionRoundsTests {
    private let id = TransactionID(number: 7)

    private func begin(_ rounds: inout BuyerActionRounds) throws -> Int {
        let round = rounds.begin(id)
        return try #require(round)
    }

    @Test func aNewRoundReplacesTheOneThatHasClosedItsPage() throws {
        var rounds = BuyerActionRounds()
        let first = try begin(&rounds)
        let mayOpen = rounds.openPage(first, of: id)
        #expect(mayOpen)
        rounds.closePage(first, of: id)
        let second = try begin(&rounds)
        #expect(!rounds.isCurrent(first, of: id) && rounds.isCurrent(second, of: id))
        let mayOpenLate = rounds.openPage(first, of: id)
        #expect(!mayOpenLate)
        // The end of the first one, which comes late, is not that of the second.
        rounds.end(first, of: id)
        #expect(rounds.ids == [id])
        rounds.end(second, of: id)
        #expect(rounds.ids == [])
        _ = rounds.begin(id)
        #expect(!rounds.isCurrent(first, of: id))
    }

    /// The question begins with the account's token.
    @Test(.timeLimit(.minutes(10)))
    func thePageIsAskedForOnceTheQueueSaysThatTheBuyerIsAwaited() async throws {
        let questions = Mutex(0)
        var configuration = StoreConfiguration.unreachable
        configuration.buyerActionPage = { _ in }
        configuration.accountToken = { _ in
            questions.withLock { $0 += 1 }
            return "token"
        }
        let queue = SKPaymentQueue(
            configuration: configuration,
            callbacks: DispatchQueue(label: "test")
        )
        queue.change { $0.receive([.of(7, "coins", .purchasing)]) }
        #expect(queue.state.withLock { $0.buyerActions.ids } == [])
        var waiting = QueueChanged.of(7, "coins", .purchasing, version: 2)
        waiting.transaction.awaitsBuyer = true
        queue.change { $0.receive([waiting]) }
        #expect(queue.state.withLock { $0.buyerActions.ids } == [id])
        try await eventually("the page to be asked for") {
            questions.withLock { $0 } > 0 ? true : nil
        }
        queue.close()
    }

    @Test func noRoundBeginsBeforeThePageIsClosed() throws {
        var rounds = BuyerActionRounds()
        let round = try begin(&rounds)
        // However often the buyer asks, the page is about to be opened.
        let early = rounds.begin(id)
        let mayOpen = rounds.openPage(round, of: id)
        let meanwhile = rounds.begin(id)
        #expect(early == nil && mayOpen && meanwhile == nil)
        rounds.closePage(round, of: id)
        let again = rounds.begin(id)
        #expect(again != nil && again != round)
    }
}
