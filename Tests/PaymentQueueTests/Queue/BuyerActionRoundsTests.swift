import EventTypes
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
