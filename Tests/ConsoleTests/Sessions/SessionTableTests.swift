import EventTypes
import Testing

@testable import Console

@Suite struct SessionTableTests {
    private static let maria = AdministratorName(unchecked: "maria")
    private static let start = MachineTime(millisecondsSinceEpoch: 1_795_237_200_000)

    private static func after(minutes: Int) -> MachineTime {
        start.advanced(by: .seconds(minutes * 60))
    }

    @Test func aSessionEndsAfterAPause() {
        let sessions = SessionTable()
        let secret = sessions.begin(with: "token", of: Self.maria, at: Self.start)
        #expect(sessions.session(of: secret, at: Self.after(minutes: 29)) != nil)
        #expect(sessions.session(of: secret, at: Self.after(minutes: 58)) != nil)
        #expect(sessions.session(of: secret, at: Self.after(minutes: 88)) == nil)
        #expect(sessions.session(of: secret, at: Self.after(minutes: 58)) == nil, "it is gone")
    }

    @Test func aPageThatFollowsItsDataProlongsNothing() {
        let sessions = SessionTable()
        let secret = sessions.begin(with: "token", of: Self.maria, at: Self.start)
        #expect(sessions.session(of: secret, at: Self.after(minutes: 29), isUse: false) != nil)
        #expect(sessions.session(of: secret, at: Self.after(minutes: 30), isUse: false) == nil)
    }

    @Test func aSessionThatIsUsedEndsAfterEightHours() {
        let sessions = SessionTable()
        let secret = sessions.begin(with: "token", of: Self.maria, at: Self.start)
        for minutes in stride(from: 20, to: 480, by: 20) {
            #expect(sessions.session(of: secret, at: Self.after(minutes: minutes)) != nil)
        }
        #expect(sessions.session(of: secret, at: Self.after(minutes: 480)) == nil)
    }

    @Test func aSessionThatWasEndedIsGone() {
        let sessions = SessionTable()
        let secret = sessions.begin(with: "token", of: Self.maria, at: Self.start)
        sessions.end(secret)
        #expect(sessions.session(of: secret, at: Self.start) == nil)
    }

    @Test func whoSignsOutEverywhereEndsTheirOwnSessionsAlone() {
        let sessions = SessionTable()
        let own = (0..<3).map { _ in sessions.begin(with: "t", of: Self.maria, at: Self.start) }
        let max = AdministratorName(unchecked: "max")
        let other = sessions.begin(with: "t", of: max, at: Self.start)
        sessions.endAll(of: Self.maria, at: Self.after(minutes: 1))
        #expect(own.allSatisfy { sessions.session(of: $0, at: Self.after(minutes: 1)) == nil })
        #expect(sessions.session(of: other, at: Self.after(minutes: 1)) != nil)
        let new = sessions.begin(with: "t", of: Self.maria, at: Self.after(minutes: 2))
        #expect(sessions.session(of: new, at: Self.after(minutes: 2)) != nil)
    }

    @Test func noTwoSessionsShareASecretOrAFormsText() {
        let sessions = SessionTable()
        let secrets = (0..<100).map { _ in
            sessions.begin(with: "token", of: Self.maria, at: Self.start)
        }
        #expect(Set(secrets).count == 100)
        let texts = secrets.compactMap { sessions.session(of: $0, at: Self.start)?.csrf }
        #expect(Set(texts).union(secrets).count == 200)
    }

    @Test func whatHasEndedDoesNotStayInMemory() throws {
        let (tickets, sessions) = (TicketTable(), SessionTable())
        _ = sessions.begin(with: "token", of: Self.maria, at: Self.start)
        _ = tickets.issue(for: "token", at: Self.start)
        func sweep(minutes: Int) {
            SessionSweeper(
                tickets: tickets,
                sessions: sessions,
                signIns: SignInLimit(),
                now: { Self.after(minutes: minutes) }
            ).sweep()
        }
        sweep(minutes: 1)
        #expect(tickets.count == 1 && sessions.count == 1)
        sweep(minutes: 2)
        #expect(tickets.count == 0 && sessions.count == 1)
        sweep(minutes: 30)
        #expect(sessions.count == 0)
    }
}
