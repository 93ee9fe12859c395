package import EventTypes
import Postgres

/// A consumer's lag behind a producer.
struct ConsumerLag: Hashable, Sendable {
    let consumer: String
    let topic: String
    let producer: String
    /// The events that it has yet to act on.
    var events = BoundedCount(0)
    /// The time of the oldest of these events.
    var oldest: StoreTime?
}

/// Counts the events that consumers have yet to act on.
package struct LagReader: Sendable {
    let databases: DatabaseAddresses

    /// Makes a reader.
    package init(databases: DatabaseAddresses) {
        self.databases = databases
    }

    /// Reads the lag of every consumer of every topic, all concurrently.
    ///
    /// - Parameter now: The time at which the events have an age.
    /// - Returns: The lags, in the order of the topics.
    /// - Throws: ``OperatorError`` if a database cannot be read.
    package func report(at now: StoreTime) async throws -> LagReport {
        LagReport(try await all(), at: now)
    }

    /// Counting stops here: this many events are a backlog, however many more there are.
    static let eventsMax = 10_000
    /// The search stops after this many events.
    ///
    /// If one consumer has been away for days, the log since then is long, and another consumer may
    /// have applied nearly all of it.
    private static let eventsReadMax = 200_000
    private static let pageLength = 5_000

    /// Reads the lag of every consumer of every topic, all concurrently.
    func all() async throws -> [ConsumerLag] {
        let pairs = Topics.all.flatMap { topic in topic.consumers.map { (topic, $0) } }
        return try await withThrowingTaskGroup(of: (Int, ConsumerLag).self) { group in
            for (index, (topic, consumer)) in pairs.enumerated() {
                group.addTask { (index, try await lag(of: consumer, behind: topic)) }
            }
            var lags: [(Int, ConsumerLag)] = []
            for try await lag in group { lags.append(lag) }
            return lags.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func lag(of consumer: ServiceName, behind topic: Topic) async throws -> ConsumerLag {
        var lag = ConsumerLag(
            consumer: consumer.rawValue,
            topic: topic.name,
            producer: topic.producer.rawValue
        )
        guard let source = OperatedService(rawValue: topic.producer.rawValue),
            let target = OperatedService(rawValue: consumer.rawValue)
        else { return lag }
        let (log, places) = (databases.address(of: source), databases.address(of: target))
        lag = try await DatabaseReader.withSession(log) { producer in
            try await DatabaseReader.withSession(places) { [lag] consuming in
                try await count(lag, of: topic, from: producer, doneBy: consuming)
            }
        }
        return lag
    }

    /// Reads the log before the places, so that an event applied in between counts as applied.
    private func count(
        _ lag: ConsumerLag,
        of topic: Topic,
        from producer: PostgresConnection,
        doneBy consuming: PostgresConnection
    ) async throws -> ConsumerLag {
        var lag = lag
        var place = try await producer.run { try LagStore.confirmed(on: $0) }
        var read = 0
        while true {
            let page = try await producer.run { [place, consumer = lag.consumer] connection in
                try LagStore.page(
                    after: place,
                    of: topic,
                    for: consumer,
                    length: Self.pageLength,
                    on: connection
                )
            }
            let open = try await consuming.run { [consumer = lag.consumer] connection in
                try LagStore.open(page.candidates, consumer: consumer, on: connection)
            }
            place = page.end
            read += page.length
            let count = lag.events.count + open.count
            lag.oldest = ([lag.oldest] + open.map(\.time)).compactMap(\.self).min()
            let isEnd = page.length < Self.pageLength
            if count > Self.eventsMax {
                lag.events = BoundedCount(Self.eventsMax, isAtLeast: true)
                return lag
            }
            lag.events = BoundedCount(count, isAtLeast: !isEnd && read >= Self.eventsReadMax)
            if isEnd || read >= Self.eventsReadMax { return lag }
        }
    }
}
