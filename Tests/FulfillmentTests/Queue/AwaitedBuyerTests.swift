import EventTypes
import Messaging
import Postgres
import Seals
import TestSupport
import Testing

@testable import Fulfillment

/// Payments that wait for their buyers, who have to confirm them at their bank.
@Suite(.timeLimit(.minutes(10)))
struct AwaitedBuyerTests {
    /// A payment that waits for its buyer.
    private let waiting = Transaction.waiting(version: 2)
    /// The same one when it no longer waits and is not decided.
    private let processing = Transaction.sample(1, version: 3, state: .purchasing)

    @Test func aWaitIsShownAtOnceAndTheBeginningThatFollowsIsNot() async throws {
        try await withFulfillment { store in
            try await store.arrive(waiting)
            let shown = try await store.reads.unfinished(in: .sample()).changes
            let outbox = try await store.outbox()
            #expect(shown.map(\.data) == outbox.map(\.data))
            // The topic of beginnings is read a second later.
            try await store.arrive(.sample(1, version: 1, state: .purchasing))
            let changes = try await store.published().map(\.change)
            #expect(changes.map(\.transaction) == [waiting])
            #expect(try await store.finish(1) == .refused(.purchasing))
        }
    }

    /// The log may deliver each event twice.
    @Test(arguments: [true, false])
    func theQueueShowsEachChangeOfTheWaitOnce(isOneBatch: Bool) async throws {
        try await withFulfillment { store in
            let versions: [Transaction] = [
                .sample(1, version: 1, state: .purchasing), waiting, processing,
                .waiting(version: 4), .sample(1, version: 5, state: .failed),
            ]
            if isOneBatch {
                try await store.arrive(versions + versions)
            } else {
                for version in versions {
                    try await store.arrive(version)
                    try await store.arrive(version)
                }
            }
            try await store.arrive(versions.reversed())
            let changes = try await store.published().map(\.change)
            #expect(changes.map(\.transaction) == versions)
            #expect(changes.map(\.revision) == [1, 2, 3, 4, 5])
            #expect(changes.map(\.isDelivered) == [false, false, false, false, true])
            let awaited = changes.map(\.transaction.awaitsBuyer)
            #expect(awaited == [nil, true, nil, true, nil])
            let rest = try await store.reads.unfinished(in: .sample()).changes
            #expect(rest.map(\.revision) == [5])
        }
    }

    /// The receipt comes over another topic.
    @Test func aWaitThatIsOverWhenItArrivesChangesNothing() async throws {
        try await withFulfillment { store in
            let paid = Transaction.sample(1, version: 3)
            try await store.arrive(paid)
            try await store.arrive(waiting)
            #expect(try await store.published().map(\.change.transaction) == [paid])
            #expect(try await store.finish(1) == .finished(at: startOfTime))
        }
    }

    @Test func aStreamTellsTheWaitAndItsEnd() async throws {
        try await StreamServer.run { server in
            var stream = try await server.connect()
            try await server.store.arrive(.sample(1, version: 1, state: .purchasing))
            try await server.store.arrive(.waiting(version: 2))
            try await server.store.arrive(.sample(1, version: 3))
            try await server.handOn()
            var awaited: [Bool?] = []
            for _ in 1...3 {
                let event = try #require(try await stream.next())
                #expect(event.name == "transaction")
                awaited.append(try event.change.transaction.awaitsBuyer)
            }
            #expect(awaited == [nil, true, nil])
        }
    }

    @Test func theQueueThatIsMadeAgainFromTheLogIsTheSame() async throws {
        try await withFulfillment { store in
            try await store.arrive(.sample(1, version: 1, state: .purchasing), waiting)
            try await store.arrive(.sample(2, version: 1, state: .purchasing))
            try await store.arrive(.waiting(2, version: 2))
            try await store.arrive(.sample(2, version: 3))
            let log = try await store.client.withTransaction {
                try EventLog.rows(after: .start, limit: 1000, part: .visible, on: $0)
            }
            let live = try await store.reads.unfinished(in: .sample())
            #expect(live.changes.count == 2)
            for batches in [log.map { [$0] }, [log]] {
                try await withTestDatabase(migrations: FulfillmentMigrations.all) { shadow in
                    try await shadow.withClient { client in
                        try await client.withTransaction { connection in
                            let handler = FulfillmentRebuildHandler()
                            for batch in batches {
                                let contradictions = try handler.apply(batch, on: connection)
                                #expect(contradictions == [])
                            }
                        }
                        let rebuilt = FulfillmentDatabase(client: client)
                        let page = try await rebuilt.reads.unfinished(in: .sample())
                        #expect(page.revision == live.revision)
                        #expect(page.changes.map(\.data) == live.changes.map(\.data))
                    }
                }
            }
        }
    }
}

extension Transaction {
    /// A payment that waits for its buyer.
    fileprivate static func waiting(_ number: Int64 = 1, version: Int) -> Transaction {
        var transaction = sample(number, version: version, state: .purchasing)
        transaction.awaitsBuyer = true
        return transaction
    }
}
