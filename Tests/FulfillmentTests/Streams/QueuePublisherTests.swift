import EventTypes
import Messaging
import Postgres
import TestSupport
import Testing

@testable import Fulfillment

/// Changes that this process has committed, on their way to its own streams.
@Suite(.timeLimit(.minutes(10))) struct QueuePublisherTests {
    private struct Refusal: Error {}

    /// Runs a test with a database whose changes go to a hub.
    private func withHub(
        _ body: @escaping @Sendable (FulfillmentDatabase, QueueHub) async throws -> Void
    ) async throws {
        try await withFulfillment { database in
            let hub = QueueHub(limits: QueueHub.Limits())
            let publisher = QueuePublisher(pass: { hub.pass($0, of: $1) }, wakeRelay: {})
            try await body(FulfillmentDatabase(client: database.client, publisher: publisher), hub)
        }
    }

    @Test func aCommittedChangeIsOnTheStreamBeforeTheLogIsRead() async throws {
        try await withHub { store, hub in
            let alice = try hub.subscribe(to: .sample("alice"))
            try await store.arrive(.sample(1), .sample(2, account: "bob"))
            try await store.finish(1)
            var signals = alice.signals.makeAsyncIterator()
            let changes = try #require(await signals.next()?.messages)
            let finishes = try #require(await signals.next()?.messages)
            #expect(changes.map(\.revision) == [1] && changes.map(\.kind) == [.transaction])
            #expect(finishes.map(\.revision) == [2] && finishes.map(\.kind) == [.removed])
            let events = try await store.outbox().filter { $0.key == "alice" }
            #expect(events.map(\.data) == (changes + finishes).map(\.data))
        }
    }

    @Test func theLogBringsAStreamOnlyWhatThisProcessHasNotPassedOn() async throws {
        try await withHub { store, hub in
            let alice = try hub.subscribe(to: .sample("alice"))
            try await store.arrive(.sample(1))
            let own = try await store.outbox()
            hub.receive(own)
            // Another process has committed this one.
            let other = FulfillmentDatabase(client: store.client)
            try await other.arrive(.sample(2))
            hub.receive(try await store.outbox())
            var signals = alice.signals.makeAsyncIterator()
            let first = try #require(await signals.next()?.messages)
            let second = try #require(await signals.next()?.messages)
            #expect(first.map(\.revision) == [1] && second.map(\.revision) == [2])
        }
    }

    @Test func anEventThatThisProcessHasPassedOnIsLeftOutOnce() async throws {
        try await withHub { store, hub in
            try await store.arrive(.sample(1))
            let alice = try hub.subscribe(to: .sample("alice"))
            try await store.arrive(.sample(2))
            let events = try await store.outbox()
            #expect(events.map { hub.hasPassed($0.id) } == [false, true])
            #expect(events.map { hub.hasPassed($0.id) } == [false, false])
            #expect(alice.queue == .sample("alice"))
        }
    }

    @Test func onlyTheNewestPassedEventsAreKnown() {
        let ids = (0..<5).map { EventID(bytes: SIMD16(repeating: UInt8($0))) }
        var passed = PassedEvents(countMax: 3)
        for id in ids.prefix(4) { passed.note(id) }
        let wasTaken = passed.take(ids[2])
        passed.note(ids[4])
        let known = ids.map { passed.take($0) }
        #expect(wasTaken)
        #expect(known == [false, false, false, true, true])
    }

    @Test func aChangeThatIsRolledBackIsOnNoStream() async throws {
        try await withHub { store, hub in
            let alice = try hub.subscribe(to: .sample("alice"))
            let event = try ReceivedEvent.arrival(.sample(1))
            await #expect(throws: Refusal.self) {
                try await store.client.withTransaction { [handler = store.handler] connection in
                    try handler.apply([event], on: connection)
                    throw Refusal()
                }
            }
            try await store.arrive(.sample(2))
            var signals = alice.signals.makeAsyncIterator()
            let changes = try #require(await signals.next()?.messages)
            let snapshots = try changes.map {
                try EventCoding.decode(QueueChanged.self, from: $0.data)
            }
            #expect(snapshots.map(\.transaction.id) == [TransactionID(number: 2)])
        }
    }
}

extension QueueSignal {
    /// The changes that it passes on.
    fileprivate var messages: [QueueMessage]? {
        if case .changes(let messages) = self { messages } else { nil }
    }
}
