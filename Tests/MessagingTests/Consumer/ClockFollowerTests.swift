import ClockAndIDs
import EventTypes
import Kafka
import Logging
import Postgres
import Seals
import Testing
import TestSupport

@testable import Messaging

/// A process reads the store's clock from the beginning of its topic, and follows it from there on.
@Suite(.timeLimit(.minutes(10)))
struct ClockFollowerTests {
    private static let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
    private static let year = Duration.seconds(365 * 86_400)

    private struct Bench {
        let log: SealedDatabase
        let broker: TestBroker
        let producer: KafkaProducer

        func makeTopic() async throws {
            let admin = try KafkaAdmin(
                settings: broker.settings(),
                logger: ClockFollowerTests.quiet
            )
            let topics = RelayTopics(
                [Topics.storeClock],
                TopicSettings(partitions: 3, replicationFactor: 1),
                ClockFollowerTests.quiet
            )
            try await topics.makeMissing(admin)
            #expect(try await admin.partitions(of: Topics.storeClock.name) == 1)
            await admin.close()
        }

        func publish(_ clock: StoreClock, step: Int64, epoch: Int32 = 1) async throws {
            let time = StoreTime(millisecondsSinceEpoch: SealedDatabase.endOfNovember)
            let event = try OutboxEvent(
                ClockChanged(step: step, clock: clock),
                type: .clockChanged,
                topic: Topics.storeClock,
                key: "store",
                subject: "store",
                time: time
            )
            let row = OutboxRow(
                place: LogPlace(xid: UInt64(step), position: step),
                event: event
            )
            let record = EventHeaders.record(for: row, service: "payments", epoch: epoch)
            _ = try await producer.send([record])
        }

        /// Runs a body beside a follower of a clock.
        func following(
            _ clock: ProcessClock,
            fetchWait: Duration = .milliseconds(25),
            _ body: () async throws -> Void
        ) async throws {
            let settings = broker.settings()
            let wait = ["fetch.wait.max.ms": "\(Int(fetchWait / .milliseconds(1)))"]
            let follower = ClockFollower(
                clock: clock,
                kafka: KafkaSettings(
                    bootstrapServers: settings.bootstrapServers,
                    clientID: settings.clientID,
                    properties: settings.properties.merging(wait) { $1 }
                ),
                logger: ClockFollowerTests.quiet
            )
            let running = Task { try await follower.run() }
            let result: Result<Void, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            running.cancel()
            try? await running.value  // Cancelled.
            try result.get()
        }
    }

    private static func withBench(_ body: (Bench) async throws -> Void) async throws {
        try await SealedDatabase.with { log in try await withBroker(for: log, body) }
    }

    private static func withBroker(
        for log: SealedDatabase,
        _ body: (Bench) async throws -> Void
    ) async throws {
        try await withTestBroker { broker in try await withProducer(for: log, broker, body) }
    }

    private static func withProducer(
        for log: SealedDatabase,
        _ broker: TestBroker,
        _ body: (Bench) async throws -> Void
    ) async throws {
        let producer = try KafkaProducer(
            settings: broker.settings(),
            logger: ClockFollowerTests.quiet
        )
        let running = Task { try await producer.run() }
        defer { running.cancel() }
        try await body(Bench(log: log, broker: broker, producer: producer))
    }

    @Test func aProcessIsNotCurrentBeforeItHasReadEveryChangeThatWasThere() async throws {
        try await Self.withBench { bench in
            try await bench.makeTopic()
            let ahead = bench.log.client.now.advanced(by: Self.year)
            for step in Int64(1)...50 {
                let time = ahead.advanced(by: .seconds(step))
                try await bench.publish(.frozen(at: time), step: step)
            }
            let clock = ProcessClock(client: bench.log.client)
            #expect(!clock.isCurrent)
            try await bench.following(clock) {
                // Looks without a pause, because the changes are read a moment later anyway.
                let limit = ContinuousClock.now + .seconds(60)
                while !clock.isCurrent, ContinuousClock.now < limit { await Task.yield() }
                #expect(clock.step == 50)
                #expect(clock.now == ahead.advanced(by: .seconds(50)))
                try await bench.publish(.frozen(at: ahead.advanced(by: Self.year)), step: 51)
                try await eventually("the next change") { clock.step == 51 ? true : nil }
            }
        }
    }

    /// The new log is as long as the old one, so its end does not tell them apart.
    @Test func aProcessFollowsTheClockAfterTheBrokerHasLostItsLog() async throws {
        try await Self.withBench { bench in
            try await bench.makeTopic()
            let ahead = bench.log.client.now.advanced(by: Self.year)
            for step in Int64(1)...2 { try await bench.publish(.frozen(at: ahead), step: step) }
            let clock = ProcessClock(client: bench.log.client)
            try await bench.following(clock) {
                try await eventually("the clock to be read") { clock.step == 2 ? true : nil }
                try await bench.broker.restart()
                // A producer of before waits for what the broker has forgotten.
                try await Self.withProducer(for: bench.log, bench.broker) { bench in
                    try await bench.makeTopic()
                    for step in Int64(2)...3 {
                        try await bench.publish(.frozen(at: ahead), step: step)
                    }
                }
                try await eventually("the change after the loss") { clock.step == 3 ? true : nil }
            }
        }
    }

    /// The publisher may notice a loss only after it has published the first change to the new log.
    @Test func theFirstChangeOfANewerEpochIsFollowed() async throws {
        try await Self.withBench { bench in
            try await bench.makeTopic()
            let ahead = bench.log.client.now.advanced(by: Self.year)
            let clock = ProcessClock(client: bench.log.client)
            try await bench.following(clock) {
                try await bench.publish(.frozen(at: ahead), step: 1, epoch: 1)
                try await eventually("the first change") { clock.step == 1 ? true : nil }
                try await bench.publish(.frozen(at: ahead), step: 2, epoch: 2)
                try await eventually("the second change") { clock.step == 2 ? true : nil }
            }
        }
    }

    /// After the first change it fetches in other intervals, if its fetches may be shorter.
    @Test(arguments: [Duration.milliseconds(25), .milliseconds(500)])
    func noChangeOfAnAdvanceIsMissed(fetchWait: Duration) async throws {
        try await Self.withBench { bench in
            try await bench.makeTopic()
            let ahead = bench.log.client.now.advanced(by: Self.year)
            try await bench.publish(.frozen(at: ahead), step: 1)
            let clock = ProcessClock(client: bench.log.client)
            try await bench.following(clock, fetchWait: fetchWait) {
                try await eventually("the clock to be read") { clock.isCurrent ? true : nil }
                for step in Int64(2)...20 {
                    let time = ahead.advanced(by: .seconds(step))
                    try await bench.publish(.frozen(at: time), step: step)
                    if step % 5 == 0 {
                        try await eventually("the step") { clock.step == step ? true : nil }
                        #expect(clock.now == time)
                    }
                }
            }
        }
    }

    /// The process may wait long for a commit, and its clock would stand as long.
    @Test func theClockGoesOnWhileItsChangesCannotBeStored() async throws {
        try await Self.withBench { bench in
            try await bench.makeTopic()
            let ahead = bench.log.client.now.advanced(by: Self.year)
            let client = bench.log.client
            let clock = ProcessClock(client: client)
            try await bench.following(clock) {
                try await eventually("the clock to be read") { clock.isCurrent ? true : nil }
                let (locked, mark) = AsyncStream.makeStream(of: Void.self)
                async let reached: Int64 = client.withTransaction { connection in
                    defer { mark.finish() }
                    try connection.execute("LOCK TABLE followed_clock")
                    mark.yield()
                    let limit = ContinuousClock.now + .seconds(60)
                    while clock.step < 3, ContinuousClock.now < limit {
                        _ = try connection.query("SELECT 1 FROM pg_sleep(0.02)")
                    }
                    return clock.step
                }
                for await _ in locked { break }
                for step in Int64(1)...3 {
                    try await bench.publish(.frozen(at: ahead), step: step)
                    try await eventually("the step, or the end of the lock") {
                        clock.step == step ? true : nil
                    }
                }
                #expect(try await reached == 3)
                let stored = try await eventually("the newest change to be stored") {
                    let stored = try await client.withConnection { connection in
                        try FollowedClockStore.load(on: connection)
                    }
                    return stored?.step == 3 ? stored : nil
                }
                #expect(stored.clock == .frozen(at: ahead))
            }
        }
    }

    @Test func aProcessThatStartsAfterTheBrokerHasLostItsLogKnowsTheTime() async throws {
        try await SealedDatabase.with { log in
            let ahead = log.client.now.advanced(by: Self.year)
            try await Self.withBroker(for: log) { bench in
                try await bench.makeTopic()
                try await bench.publish(.frozen(at: ahead), step: 1)
                try await bench.following(ProcessClock(client: log.client)) {
                    try await eventually("the change to be kept") {
                        try await log.client.withConnection { connection in
                            try FollowedClockStore.load(on: connection)
                        }
                    }
                }
            }
            try await Self.withBroker(for: log) { bench in
                try await bench.makeTopic()
                let clock = ProcessClock(client: log.client)
                try await bench.following(clock) {
                    try await eventually("the clock to be read") { clock.isCurrent ? true : nil }
                    #expect(clock.step == 1 && clock.now == ahead)
                }
            }
        }
    }

    @Test func aClockThatWasNeverSetIsCurrentAsSoonAsItsTopicExists() async throws {
        try await Self.withBench { bench in
            let clock = ProcessClock(client: bench.log.client)
            try await bench.following(clock) {
                #expect(!clock.isCurrent)
                try await bench.makeTopic()
                try await eventually("the clock to be read") { clock.isCurrent ? true : nil }
                #expect(clock.step == 0)
            }
        }
    }
    @Test func aFollowerThatHasReadEverythingWaitsUntilItsNextLook() {
        func wait(_ isHurried: Bool, _ isReadUp: Bool, _ untilLook: Duration) -> Duration {
            ClockFollower.pollWait(isHurried: isHurried, isReadUp: isReadUp, untilLook: untilLook)
        }
        #expect(wait(false, true, .seconds(4)) == .milliseconds(4001))
        #expect(wait(false, true, .seconds(-1)) == .milliseconds(1))
        #expect(wait(false, false, .seconds(4)) == .seconds(1))
        #expect(wait(true, true, .seconds(4)) == .milliseconds(500))
    }
}
