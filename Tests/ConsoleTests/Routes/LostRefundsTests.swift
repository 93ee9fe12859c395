import EventTypes
import StoreAPI
import Testing

@testable import Console

@Suite struct LostRefundsTests {
    @Test func aRefundWithoutAnAnswerKeepsItsKeyUntilThereIsOne() throws {
        let lost = LostRefunds()
        let id = TransactionID(number: 7)
        let key = try #require(IdempotencyKey(rawValue: "a-key"))
        #expect(lost.key(of: id) == nil)
        lost.note(key, of: id)
        #expect(lost.key(of: id) == key)
        #expect(lost.key(of: TransactionID(number: 8)) == nil)
        lost.forget(id)
        #expect(lost.key(of: id) == nil)
    }

    @Test func thereAreNeverTooMany() throws {
        let lost = LostRefunds()
        let key = try #require(IdempotencyKey(rawValue: "a-key"))
        let ids = (1...Int64(LostRefunds.countMax + 1)).map { TransactionID(number: $0) }
        for id in ids { lost.note(key, of: id) }
        #expect(ids.filter { lost.key(of: $0) != nil }.count == LostRefunds.countMax)
        #expect(lost.key(of: try #require(ids.last)) == key)
    }
}
