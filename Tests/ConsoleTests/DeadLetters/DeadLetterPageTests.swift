import ClockAndIDs
import EventTypes
import Foundation
import StoreAPI
import Testing

@testable import Console
@testable import OperatorCore

@Suite struct DeadLetterPageTests {
    private static let now = MachineTime(millisecondsSinceEpoch: 1_795_237_200_000)

    private static func letter(_ id: Int64, _ state: String) -> RecordedDeadLetter {
        RecordedDeadLetter(
            service: "receipts",
            id: id,
            eventID: EventID(time: StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)),
            state: state,
            key: "<ada>",
            type: "transaction.purchased.v1",
            subject: "1000001",
            topic: "payments.transactions",
            partition: 0,
            offset: 1,
            time: StoreTime(millisecondsSinceEpoch: 1_795_237_200_000),
            recordedAt: now,
            redriveRequestedAt: nil,
            settledAt: nil,
            reason: "no such thing",
            act: nil,
            traceparent: nil
        )
    }

    private static func keyPage(_ visitor: Visitor) -> String {
        let queue = LetterQueue(
            dead: [letter(2, "dead")],
            parked: [letter(1, "parked")],
            count: 30
        )
        return DeadLetterKeyPage(
            key: "<ada>",
            queues: [(.receipts, queue)],
            visitor: visitor,
            now: now
        ).html.markup
    }

    @Test func theDeadComeBeforeTheParked() throws {
        let page = Self.keyPage(.sample([.read]))
        let dead = try #require(page.range(of: "data-state=\"dead\""))
        let parked = try #require(page.range(of: "data-state=\"parked\""))
        #expect(dead.lowerBound < parked.lowerBound)
        #expect(page.contains("28 more wait behind these") && !page.contains("<ada>"))
    }

    @Test func onlyOperatorsRedriveDiscardAndSeeTheData() {
        func page(_ scope: AdministratorScope) -> String {
            DeadLetterPage(
                letter: Self.letter(2, "dead"),
                data: scope == .operator ? Data("{\"secret\":1}".utf8) : nil,
                visitor: .sample([scope]),
                now: Self.now
            ).html.markup
        }
        #expect(page(.operator).contains("id=\"discard\"") && page(.operator).contains("secret"))
        #expect(!page(.support).contains("id=\"discard\""))
        #expect(page(.support).contains("lacks the scope operator"))
        #expect(Self.keyPage(.sample([.operator])).contains("id=\"redrive\""))
        #expect(!Self.keyPage(.sample([.support])).contains("id=\"redrive\""))
    }

    @Test func nothingOpenSaysSo() {
        let page = DeadLetterKeyPage(
            key: "ada",
            queues: [],
            visitor: .sample([.operator]),
            now: Self.now
        ).html.markup
        #expect(page.contains("role=\"status\">Nothing of ada is dead or parked.</p>"))
        #expect(!page.contains("<dialog") && !page.contains("&lt;"))
    }

    @Test func aSettledLetterIsNotDiscardedAgain() {
        let page = DeadLetterPage(
            letter: Self.letter(2, "redriven"),
            data: nil,
            visitor: .sample([.operator]),
            now: Self.now
        ).html.markup
        #expect(!page.contains("id=\"discard\""))
    }
}
