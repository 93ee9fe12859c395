import ClockAndIDs
import EventTypes
import Foundation
import Messaging
import NIOHTTP1
import Postgres
import ServiceLifecycle
import StoreAPI
import Testing
import TestSupport

@testable import Fulfillment

@Suite(.timeLimit(.minutes(10)))
struct QueueStreamTests {
    @Test func aClientGetsAllUnfinishedOnesTheOldestFirstThenEveryChange() async throws {
        try await StreamServer.run { server in
            try await server.store.arrive(
                .sample(1, version: 1, state: .purchasing),
                .sample(2),
                .sample(3)
            )
            try await server.store.finish(3)
            try await server.store.arrive(.sample(1))
            var stream = try await server.connect()
            let first = try #require(try await stream.next())
            let second = try #require(try await stream.next())
            #expect(try first.change.transaction == .sample(1))
            #expect(try second.change.transaction == .sample(2))
            #expect([first.name, second.name] == ["transaction", "transaction"])
            // The older one changed last, so resuming after it alone would miss nothing either.
            #expect([first.id, second.id] == ["1", "5"])

            try await server.store.arrive(.sample(4))
            try await server.store.finish(2)
            try await server.handOn()
            let added = try #require(try await stream.next())
            let removed = try #require(try await stream.next())
            #expect([added.name, removed.name] == ["transaction", "removed"])
            #expect([added.id, removed.id] == ["6", "7"])
            #expect(try removed.change.finishedAt == startOfTime)
            #expect(try removed.change.transaction.id.number == 2)
        }
    }

    @Test(arguments: [true, false])
    func aClientResumesWithWhatChangedRemovalsIncluded(byQuery: Bool) async throws {
        try await StreamServer.run { server in
            try await server.store.arrive(.sample(1), .sample(2))
            try await server.store.finish(1)
            try await server.store.arrive(.sample(3))
            if byQuery {
                let (status, _) = try await server.send(.GET, "\(Routes.queue)?lastEventID=x")
                #expect(status == 400)
            }
            var stream = try await server.connect(after: "2")
            let removed = try #require(try await stream.next())
            let added = try #require(try await stream.next())
            #expect([removed.name, added.name] == ["removed", "transaction"])
            #expect([removed.id, added.id] == ["3", "4"])
            // The changes that it resumed with are not sent again when they arrive over the topic.
            try await server.handOn()
            try await server.store.arrive(.sample(5))
            try await server.handOn()
            #expect(try await stream.next()?.id == "5")
        }
    }

    @Test func aLongAbsenceIsMadeUpForPageByPage() async throws {
        try await StreamServer.run { server in
            try await server.store.arrive((1...1200).map { Transaction.sample($0) })
            var stream = try await server.connect(after: "1")
            for revision in 2...1200 {
                #expect(try await stream.next()?.id == String(revision))
            }
        }
    }

    @Test func anIDFromADatabaseThatIsNoMoreBeginsAgain() async throws {
        try await StreamServer.run { server in
            try await server.store.arrive(.sample(1))
            var stream = try await server.connect(after: "900")
            #expect(try await stream.next()?.change.transaction.id.number == 1)
        }
    }

    @Test func aStreamSaysHowFarItsQueueIsAndOfWhichDatabase() async throws {
        try await StreamServer.run { server in
            try await server.store.arrive(.sample(1))
            try await server.store.arrive(.sample(2))
            var databases: Set<String> = []
            for (account, id, revision) in [
                ("alice", "1", "2"), ("alice", "", "2"), ("bob", "", "0"),
            ] {
                let connection = try RawConnection(port: server.port)
                connection.send(
                    "GET \(Routes.queue)?lastEventID=\(id) HTTP/1.1\r\nhost: x\r\n"
                        + "authorization: Bearer \(try server.token(account))\r\n\r\n"
                )
                let head = try await connection.read(until: "\r\n\r\n").lowercased()
                #expect(head.contains("queue-revision: \(revision)\r\n"), "\(head)")
                let name = head.firstMatch(of: /queue-database: ([0-9a-f]{16})\r\n/)
                databases.insert(String(try #require(name).1))
            }
            #expect(databases.count == 1)
            let before = try #require(databases.first)
            let other = try await withFulfillment { try await $0.reads.database() }
            #expect(other != before, "Another database has another name.")
        }
    }

    @Test func aQueueThatGoesBackEndsItsStreamsAndIsSentAgain() async throws {
        try await StreamServer.run { server in
            for number: Int64 in 1...3 { try await server.store.arrive(.sample(number)) }
            var stream = try await server.connect()
            for _ in 1...3 { _ = try await stream.next() }
            let heartbeat = QueueHeartbeat(
                hub: server.hub,
                store: server.store.reads,
                interval: .seconds(15),
                logger: quiet
            )
            await heartbeat.beat()
            // The state of a backup with only two changes.
            try await server.store.client.withTransaction { connection in
                try connection.execute("UPDATE queues SET revision = 2")
            }
            await heartbeat.beat()
            #expect(try await stream.next() == nil)
            var again = try await server.connect(after: "3")
            #expect(try await again.next()?.change.transaction.id.number == 1)
        }
    }

    @Test func aChangeThatTheTopicLostIsReadFromTheDatabase() async throws {
        try await StreamServer.run { server in
            var stream = try await server.connect()
            try await server.store.arrive(.sample(1))
            try await server.store.arrive(.sample(2))
            try await server.store.arrive(.sample(3))
            try await server.handOn(skipping: 2)
            for revision in 1...3 {
                #expect(try await stream.next()?.change.revision == Int64(revision))
            }
        }
    }

    @Test func aLastChangeThatTheTopicLostIsFoundByTheHeartbeat() async throws {
        try await StreamServer.run { server in
            var stream = try await server.connect()
            let heartbeat = QueueHeartbeat(
                hub: server.hub,
                store: server.store.reads,
                interval: .seconds(15),
                logger: quiet
            )
            #expect(await heartbeat.beat(), "The first beat knows nothing yet.")
            #expect(await !heartbeat.beat())
            // No relay runs here, so the events are a backlog, as while the broker is unavailable.
            try await server.store.arrive(.sample(1))
            for _ in 1...2 { #expect(await heartbeat.beat()) }
            #expect(try await stream.next()?.change.revision == 1)
            try await server.store.markPublished()
            #expect(await heartbeat.beat(), "What was published may have got lost.")
            for _ in 1...2 { #expect(await !heartbeat.beat()) }
            try await server.store.arrive(.sample(2))
            try await server.store.markPublished()
            #expect(await heartbeat.beat())
            #expect(try await stream.next()?.change.revision == 2)
        }
    }

    @Test func nobodySeesTheQueueOfAnotherAccountOrApp() async throws {
        try await StreamServer.run { server in
            let elsewhere = BundleID(unchecked: "com.example.other")
            try await server.store.arrive(.sample(1, account: "bob"), .sample(2, bundle: elsewhere))
            var stream = try await server.connect()
            try await server.store.arrive(
                .sample(3, account: "bob"),
                .sample(4, bundle: elsewhere),
                .sample(5)
            )
            try await server.handOn()
            #expect(try await stream.next()?.change.transaction.id.number == 5)
        }
    }

    @Test func streamsHaveBoundsAndAClosedOneMakesRoom() async throws {
        let limits = QueueHub.Limits(streamsMax: 3, streamsPerAccountMax: 2, bufferedMax: 8)
        try await StreamServer.run(limits: limits) { server in
            let queue = QueueKey.sample()
            var streams = [
                try server.hub.subscribe(to: queue), try server.hub.subscribe(to: queue),
            ]
            let tooMany = try await server.send(.GET, Routes.queue)
            #expect(tooMany.status == 429)
            let problem = try JSONDecoder().decode(Problem.self, from: tooMany.body)
            #expect(problem.code == "too_many_streams")
            streams.append(try server.hub.subscribe(to: .sample("bob")))
            #expect(try await server.send(.GET, Routes.queue, account: "carol").status == 503)
            streams = []
            #expect(server.hub.isEmpty)
            _ = try await server.connect()
        }
    }

    @Test func aClientThatGoesAwayGivesItsPlaceBack() async throws {
        try await StreamServer.run { server in
            let client = Task {
                var stream = try await server.connect()
                _ = try await stream.next()
            }
            try await eventually("the client is connected") { server.hub.isEmpty ? nil : true }
            client.cancel()
            try await eventually("the client is gone") { server.hub.isEmpty ? true : nil }
        }
    }

    @Test func aFinishAndTheChangeBeforeItAreSentInOrder() async throws {
        try await StreamServer.run { server in
            var stream = try await server.connect("bob")
            let snapshot = try snapshot(of: .sample(1, account: "bob"))
            // The database has none of this, so a look into it would end the stream.
            server.hub.receive([
                event("bob", snapshot, 2, finishedAt: startOfTime), event("bob", snapshot, 1),
            ])
            let first = try #require(try await stream.next())
            let second = try #require(try await stream.next())
            #expect([first.name, second.name] == ["transaction", "removed"])
            #expect([first.id, second.id] == ["1", "2"])
        }
    }

    @Test func aFinishThatArrivesLongBeforeTheChangeBeforeItLeavesNoGap() async throws {
        try await StreamServer.run { server in
            try await server.store.arrive(.sample(1))
            var stream = try await server.connect()
            #expect(try await stream.next()?.id == "1")
            try await server.store.arrive(.sample(2))
            try await server.store.finish(1)
            let events = try await server.store.outbox()
            server.hub.receive([events[2]])
            #expect(try await stream.next()?.id == "2")
            #expect(try await stream.next()?.id == "3")
            // The change is not sent again when its topic brings it.
            server.hub.receive([events[1]])
            try await server.store.arrive(.sample(3))
            server.hub.receive([try await server.store.outbox()[3]])
            #expect(try await stream.next()?.id == "4")
        }
    }

    @Test func onlyEventsForAStreamOfThisInstanceAreRead() throws {
        let hub = QueueHub(limits: QueueHub.Limits())
        let place = try hub.subscribe(to: .sample("alice"))
        defer { withExtendedLifetime(place) {} }
        #expect(hub.wants(.queueChanged, of: "alice"))
        #expect(hub.wants(.transactionFinished, of: "alice"))
        #expect(hub.wants(.queueAccountChanged, of: "alice"))
        #expect(hub.wants(.queueSubscriptionChanged, of: "alice"))
        #expect(!hub.wants(.deliveryConfirmed, of: "alice"))
        #expect(!hub.wants(.queueChanged, of: "bob"))
    }

    @Test func aClientThatReadsTooSlowlyIsLetGoAndOthersAreNotHeldUp() async throws {
        let limits = QueueHub.Limits(streamsMax: 9, streamsPerAccountMax: 9, bufferedMax: 8)
        try await StreamServer.run(limits: limits) { server in
            let slow = try IdleSocket(
                port: server.port,
                path: Routes.queue,
                token: try server.token("slow")
            )
            try await eventually("the slow client is connected") { server.hub.isEmpty ? nil : true }
            var quick = try await server.connect("quick")
            var slowChange = Transaction.sample(1, account: "slow")
            slowChange.applicationUsername = String(repeating: "x", count: 1 << 20)
            let large = try snapshot(of: slowChange)
            let small = try snapshot(of: .sample(2, account: "quick"))
            var revision: Int64 = 0
            // First the kernel's buffers fill up, then the stream's own. The kernel itself would
            // drop the connection after 30 s.
            try await eventually("the slow client is let go") {
                revision += 1
                server.hub.receive([
                    event("slow", large, revision), event("quick", small, revision),
                ])
                let id = try await quick.next()?.id
                #expect(id == String(revision))
                return server.hub.queues == [.sample("quick")] ? true : nil
            }
            #expect(revision > 8)
            // Bytes under way still arrive. Then the connection ends.
            slow.readToEnd()
        }
    }

    @Test func aShutdownEndsStreamsAndSaysWhenToComeBack() async throws {
        try await StreamServer.run { server in
            try await server.store.arrive(.sample(1))
            var stream = try await server.connect()
            #expect(try await stream.next()?.change.revision == 1)
            await server.group.triggerGracefulShutdown()
            let last = try #require(try await stream.next())
            #expect((500...1500).contains(Int(last.retry ?? "") ?? 0))
            #expect(try await stream.next() == nil)
        }
    }

    private func snapshot(of transaction: Transaction) throws -> TransactionSnapshot {
        try TransactionSnapshot(of: transaction, in: [])
    }

    private func event(
        _ account: String,
        _ snapshot: TransactionSnapshot,
        _ revision: Int64,
        finishedAt: StoreTime? = nil
    ) -> ReceivedEvent {
        ReceivedEvent(
            id: EventID(time: startOfTime),
            type: finishedAt == nil ? .queueChanged : .transactionFinished,
            topic: finishedAt == nil
                ? Topics.fulfillmentQueues.name : Topics.fulfillmentTransactions.name,
            key: account,
            subject: "1",
            time: startOfTime,
            data: snapshot.queueChanged(
                revision: revision,
                isDelivered: true,
                finishedAt: finishedAt
            )
        )
    }
}

/// A client that sends a request and does not read the response.
private final class IdleSocket {
    private let descriptor: Int32

    init(port: Int, path: String, token: String) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var size: Int32 = 4096
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw HarnessError("The server cannot be reached.") }
        let request = "GET \(path) HTTP/1.1\r\nhost: x\r\nauthorization: Bearer \(token)\r\n\r\n"
        _ = Array(request.utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Reads until the server has closed the connection.
    func readToEnd() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while read(descriptor, &buffer, buffer.count) > 0 {}
    }

    deinit { close(descriptor) }
}
