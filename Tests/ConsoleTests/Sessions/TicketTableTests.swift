import EventTypes
import Testing

@testable import Console

@Suite struct TicketTableTests {
    private static let start = MachineTime(millisecondsSinceEpoch: 1_795_237_200_000)

    private static func after(_ seconds: Int) -> MachineTime {
        start.advanced(by: .seconds(seconds))
    }

    @Test func aTicketIsGoodOnce() {
        let tickets = TicketTable()
        let ticket = tickets.issue(for: "token", at: Self.start)
        #expect(tickets.take(ticket, at: Self.after(60)) == "token")
        #expect(tickets.take(ticket, at: Self.after(60)) == nil)
    }

    @Test func aTicketOfMoreThanAMinuteIsNotGood() {
        let tickets = TicketTable()
        let ticket = tickets.issue(for: "token", at: Self.start)
        #expect(tickets.take(ticket, at: Self.after(61)) == nil)
        #expect(tickets.take(ticket, at: Self.after(1)) == nil, "it was used up by the try")
    }

    @Test(arguments: ["", "00000000000000000000000000000000", "token"])
    func whatNobodyIssuedIsNotGood(_ ticket: String) {
        let tickets = TicketTable()
        _ = tickets.issue(for: "token", at: Self.start)
        #expect(tickets.take(ticket, at: Self.start) == nil)
    }

    @Test func ticketsOfSomeTokensAreForgotten() {
        let tickets = TicketTable()
        let own = tickets.issue(for: "own", at: Self.start)
        let other = tickets.issue(for: "other", at: Self.start)
        tickets.forget { $0 == "own" }
        #expect(tickets.take(own, at: Self.start) == nil)
        #expect(tickets.take(other, at: Self.start) == "other")
    }

    @Test func theOldestTicketMakesRoom() {
        let tickets = TicketTable()
        let first = tickets.issue(for: "first", at: Self.start)
        var last = ""
        for _ in 0..<TicketTable.countMax { last = tickets.issue(for: "last", at: Self.after(1)) }
        #expect(tickets.take(first, at: Self.after(1)) == nil)
        #expect(tickets.take(last, at: Self.after(1)) == "last")
    }
}
