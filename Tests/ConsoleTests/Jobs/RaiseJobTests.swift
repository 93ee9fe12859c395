import EventTypes
import Foundation
import OperatorCore
import StoreAPI
import Testing

@testable import Console

/// Raises of the price for those who subscribe already, as jobs of the console.
@Suite(.timeLimit(.minutes(10)))
struct RaiseJobTests {
    @Test func aRaiseIsCountedBeforeAnybodyIsRaised() async throws {
        try await JobFolderInTests.run { folder in
            let work = JobWorkInTests()
            let board = try folder.board(work)
            let id = try await JobFolderInTests.countedRaise(on: board, work)
            let counted = try #require(await board.job(id, of: .raise)?.raise)
            #expect(counted.counted == SubscriptionRaise.Counts(raised: 3, others: 2))
            #expect(counted.counts == SubscriptionRaise.Counts() && counted.place == nil)
            await #expect(throws: ConsoleProblem.self) {
                try await board.raiseOn(id, isBegun: true)
            }
            try await board.raiseOn(id)
            for _ in 1...3 { work.goOn.yield() }
            try await board.wait(for: .done, of: id, .raise)
            let done = await board.job(id, of: .raise)
            #expect(done?.raise?.counts == SubscriptionRaise.Counts(raised: 3, others: 2))
            #expect(
                done?.decisions.map(\.words) == ["counted the subscriptions", "began to raise"]
            )
            // What is through is not begun a second time.
            await #expect(throws: ConsoleProblem.self) { try await board.raiseOn(id) }
        }
    }

    @Test func aRaiseThatIsCutOffGoesOnAfterItsLastPage() async throws {
        try await JobFolderInTests.run { folder in
            let killed = JobWorkInTests()
            let first = try folder.board(killed)
            let id = try await JobFolderInTests.countedRaise(on: first, killed)
            try await first.raiseOn(id)
            killed.goOn.yield()
            try await first.waitForAPlace(of: id)
            // The first board still works, as far as its files say: nobody told it to end.
            let work = JobWorkInTests()
            let second = try folder.board(work)
            let kept = try #require(await second.job(id, of: .raise))
            #expect(kept.state == .interrupted && kept.canResume)
            #expect(kept.raise?.counts == SubscriptionRaise.Counts(raised: 2))
            try await second.raiseOn(id, isBegun: true)
            // Two pages are left.
            work.goOn.yield()
            work.goOn.yield()
            try await second.wait(for: .done, of: id, .raise)
            let done = await second.job(id, of: .raise)?.raise
            #expect(done?.counts == SubscriptionRaise.Counts(raised: 3, others: 2))
        }
    }

    @Test func aRaiseStopsBetweenTwoPages() async throws {
        try await JobFolderInTests.run { folder in
            let work = JobWorkInTests()
            let board = try folder.board(work)
            let id = try await JobFolderInTests.countedRaise(on: board, work)
            let stamp = await board.job(id, of: .raise)?.version
            try await board.raiseOn(id)
            work.goOn.yield()
            try await board.waitForAPlace(of: id)
            let running = try #require(await board.job(id, of: .raise))
            #expect(running.version == stamp.map { $0 + 1 }, "a page loads nothing again")
            #expect(await board.progress(of: running)["sent"]?.text == "2 of 5")
            try await board.stop(id, of: .raise, by: JobFolderInTests.decision("stopped it"))
            work.goOn.yield()
            try await board.wait(for: .stopped, of: id, .raise)
            let second = JobFolderInTests.raise()
            _ = try await board.begin(second, over: JobFolderInTests.connection)
            // One raise is under way at a time.
            let problem = await #expect(throws: ConsoleProblem.self) {
                try await board.raiseOn(id, isBegun: true)
            }
            #expect(problem?.back?.path == "/raises/\(second.id)")
            await board.shutDown()
        }
    }

    @Test func aCountSaysHowManyItHasLookedAt() async throws {
        try await JobFolderInTests.run { folder in
            let work = JobWorkInTests()
            let board = try folder.board(work)
            let record = try await board.begin(
                JobFolderInTests.raise(),
                over: JobFolderInTests.connection
            )
            work.goOn.yield()
            let deadline = ContinuousClock.now + .seconds(60)
            while await board.progress(of: record)["sent"]?.text != "2" {
                try #require(ContinuousClock.now < deadline)
                await Task.yield()
            }
            #expect(try Self.page(record).contains("looked at so far: <span data-field=\"sent\""))
            await board.shutDown()
        }
    }

    @Test func aConsoleThatStopsDoesNotWaitForAPage() async throws {
        try await JobFolderInTests.run { folder in
            let work = JobWorkInTests()
            let board = try folder.board(work)
            let id = try await JobFolderInTests.countedRaise(on: board, work)
            try await board.raiseOn(id)
            work.goOn.yield()
            try await board.waitForAPlace(of: id)
            // The second page never ends.
            await board.shutDown()
            let cut = try #require(await board.job(id, of: .raise))
            #expect(cut.state == .interrupted && cut.canResume)
            #expect(cut.raise?.place == TransactionID(number: 2))
        }
    }

    @Test func aRaiseThatCannotWriteItsPlaceSaysSo() async throws {
        try await JobFolderInTests.run { folder in
            let work = JobWorkInTests()
            let board = try folder.board(work)
            let id = try await JobFolderInTests.countedRaise(on: board, work)
            try await board.raiseOn(id)
            try FileManager.default.removeItem(atPath: folder.state)
            work.goOn.yield()
            try await board.wait(for: .failed, of: id, .raise)
            let failed = try #require(await board.job(id, of: .raise))
            #expect(failed.canResume && failed.raise?.counts.raised == 2)
            #expect(failed.problem?.hasPrefix("The console cannot write down how far") == true)
        }
    }

    private static func page(
        _ record: JobRecord,
        _ scopes: Set<AdministratorScope> = [.merchandiser, .read]
    ) throws -> String {
        RaisePage(
            record: record,
            work: try #require(record.raise),
            fields: [:],
            visitor: .sample(scopes)
        ).html.markup
    }

    @Test func nobodyIsRaisedBeforeTheirNumberIsTyped() throws {
        var record = JobFolderInTests.raise()
        let counting = try Self.page(record)
        #expect(counting.contains("counting the subscriptions; nothing is changed"))
        #expect(counting.contains("A count that is stopped is begun again"))
        #expect(!counting.contains("stays raised"))
        record.state = .planned
        record.raise?.counted = SubscriptionRaise.Counts(raised: 12, others: 1)
        let markup = try Self.page(record)
        #expect(markup.contains("12 subscriptions would be raised to 3.49 USD in USA"))
        #expect(markup.contains("Type the number of subscriptions, 12"))
        #expect(markup.contains("name=\"reason\""))
        let reading = try Self.page(record, [.read, .support, .operator])
        #expect(!reading.contains("<dialog"))
        record.raise?.counted = SubscriptionRaise.Counts(others: 13)
        #expect(try !Self.page(record).contains("<dialog"))
    }

    @Test func aRaiseSaysWhatItDid() throws {
        var record = JobFolderInTests.raise()
        record.begunAt = 1_795_237_200_000
        record.state = .running
        #expect(try Self.page(record).contains("Whoever was raised so far stays raised."))
        record.raise?.counts = SubscriptionRaise.Counts(raised: 1234, others: 1, waiting: 2)
        record.state = .done
        #expect(try Self.page(record).contains("1,234 subscriptions are raised."))
        record.state = .interrupted
        let markup = try Self.page(record)
        #expect(markup.contains("action=\"/raises/\(record.id)/resume\""))
        #expect(markup.contains("<span data-field=\"waiting\" class=\"tone-warn\">2</span>"))
    }
}
