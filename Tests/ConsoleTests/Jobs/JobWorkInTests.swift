import ClockAndIDs
import EventTypes
import Foundation
import Logging
import OperatorCore
import StoreAPI
import Testing

@testable import Console

/// Work that waits until a test lets it go on.
struct JobWorkInTests: JobWork {
    /// Each element lets one piece of work go on.
    let turns: AsyncStream<Void>
    let goOn: AsyncStream<Void>.Continuation

    init() {
        (turns, goOn) = AsyncStream.makeStream()
    }

    func canDo(_: JobRecord.Kind) -> Bool { true }

    func plan(_ order: ReplayOrder) async throws -> ReplayPlan {
        for await _ in turns { break }
        try Task.checkCancellation()
        return ReplayOutline().plan(ends: [:])
    }

    func send(
        _ order: ReplayOrder,
        _ journal: ReplayJournal,
        _ path: String,
        _ meter: JobMeter
    ) async throws -> Bool {
        var journal = journal
        while journal.sent < 10 {
            for await _ in turns { break }
            if meter.isAskedToStop { return false }
            journal.sent += 5
            meter.note(journal.sent)
            try journal.write(to: path)
        }
        return true
    }

    /// Three pages: two subscriptions are raised on the first, one of two on the second, and none on
    /// the last.
    func page(
        of _: SubscriptionRaise,
        after place: TransactionID?,
        over _: StoreConnection
    ) async throws -> (counts: SubscriptionRaise.Counts, next: TransactionID?) {
        for await _ in turns { break }
        try Task.checkCancellation()
        switch place?.number {
        case nil: return (SubscriptionRaise.Counts(raised: 2), TransactionID(number: 2))
        case 2?: return (SubscriptionRaise.Counts(raised: 1, others: 1), TransactionID(number: 3))
        default: return (SubscriptionRaise.Counts(others: 1), nil)
        }
    }

    func prove(_: JobMeter) async throws -> VerificationReport {
        for await _ in turns { break }
        try Task.checkCancellation()
        return VerificationReport(["payments"])
    }

    func reconcile(_ meter: JobMeter) async throws -> Reconciliation {
        meter.note(3)
        for await _ in turns { break }
        try Task.checkCancellation()
        var found = Reconciliation(
            since: nil,
            until: StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)
        )
        found.compared = 3
        return found
    }
}

/// A folder for the jobs of a test, and boards that are made in it one after the other.
struct JobFolderInTests {
    let state: String

    /// Runs a body with a folder, which is removed afterwards.
    static func run(_ body: (JobFolderInTests) async throws -> Void) async throws {
        let state = FileManager.default.temporaryDirectory.appending(
            path: "jobs-\(UUID().uuidString)"
        ).path
        defer { try? FileManager.default.removeItem(atPath: state) }
        try await body(JobFolderInTests(state: state))
    }

    /// A board, as a console that has just started makes it.
    func board(_ work: some JobWork) throws -> JobBoard {
        JobBoard(
            work,
            in: JobFolder(folder: try StateFolder(state, "jobs")),
            now: { .now() },
            logger: Logger(label: "test")
        )
    }

    static func decision(_ words: String, by name: String = "maria") -> JobRecord.Decision {
        JobRecord.Decision(
            words: words,
            act: Act(
                decidedBy: AdministratorName(unchecked: name),
                reason: ActReason(rawValue: "a test")
            ),
            at: 1_795_237_200_000
        )
    }

    /// A plan of two events, one of which this version cannot read.
    static func planWithUnreadableEvent() throws -> ReplayPlan {
        let text = """
            {"events": 2, "keys": 1, "topics": {}, "unapplied": {}, "ends": {},
             "refused": {"queue.changed.v9 has an unknown version": 1}}
            """
        return try JSONDecoder().decode(ReplayPlan.self, from: Data(text.utf8))
    }

    static func replay() -> JobRecord {
        JobRecord(
            .replay,
            id: EventID(time: .wallClock()),
            by: decision("planned it"),
            order: ReplayOrder(selection: ReplaySelection(), consumer: nil, rate: 500)
        )
    }

    static func proof(by name: String = "maria") -> JobRecord {
        JobRecord(.proof, id: EventID(time: .wallClock()), by: decision("began it", by: name))
    }

    static func reconciliation() -> JobRecord {
        JobRecord(.reconciliation, id: EventID(time: .wallClock()), by: decision("began it"))
    }

    static func raise() -> JobRecord {
        JobRecord(
            .raise,
            id: EventID(time: .wallClock()),
            by: decision("counted the subscriptions"),
            raise: RaiseWork(
                productID: ProductID(unchecked: "club"),
                storefront: Storefront(unchecked: "USA"),
                price: Money(minorUnits: 349, currency: Currency(unchecked: "USD")),
                effectiveAt: nil
            )
        )
    }

    /// A connection that the work of a test does not use.
    static let connection = StoreConnection(
        service: "payments",
        baseURL: "http://127.0.0.1:1",
        token: nil
    )

    /// Begins a raise on a board, and lets its work count.
    static func countedRaise(on board: JobBoard, _ work: JobWorkInTests) async throws -> EventID {
        let id = try await board.begin(raise(), over: connection).id
        for _ in 1...3 { work.goOn.yield() }
        try await board.wait(for: .planned, of: id, .raise)
        return id
    }

    /// Begins a replay on a board, and lets its work plan it.
    static func plannedReplay(on board: JobBoard, _ work: JobWorkInTests) async throws -> EventID {
        let id = try await board.begin(replay()).id
        work.goOn.yield()
        try await board.wait(for: .planned, of: id, .replay)
        return id
    }
}

extension JobBoard {
    /// Begins to send what a replay has planned.
    func beginToSend(_ id: EventID) throws {
        try send(
            id,
            .begin(skippingUnreadable: false),
            by: JobFolderInTests.decision("began to send")
        )
    }

    /// Begins to raise those who were counted, or goes on with it.
    func raiseOn(_ id: EventID, isBegun: Bool = false) throws {
        try raise(
            id,
            isBegun: isBegun,
            by: JobFolderInTests.decision(isBegun ? "went on with it" : "began to raise"),
            over: JobFolderInTests.connection
        )
    }

    /// Waits until a raise is through with its first page.
    func waitForAPlace(of id: EventID) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while job(id, of: .raise)?.raise?.place == nil {
            try #require(ContinuousClock.now < deadline, "no page of the raise is done")
            await Task.yield()
        }
    }

    /// Waits until a job has a state.
    func wait(for state: JobRecord.State, of id: EventID, _ kind: JobRecord.Kind) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while job(id, of: kind)?.state != state {
            try #require(ContinuousClock.now < deadline, "\(String(describing: job(id, of: kind)))")
            await Task.yield()
        }
    }
}
