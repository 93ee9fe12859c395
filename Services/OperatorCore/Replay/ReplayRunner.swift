package import EventArchive
import EventTypes
package import Kafka
import Logging
import Messaging
import Seals

/// Sends the selected events to their topics again.
package struct ReplayRunner: Sendable {
    package let databases: @Sendable (String) -> DatabaseAddress
    package let archives: ReplayArchives
    package let producer: KafkaProducer
    /// Gets the number of events that were sent.
    package let progress: @Sendable (Int) -> Void
    /// Whether the replay was asked to stop.
    package let isInterrupted: @Sendable () -> Bool

    package init(
        databases: @escaping @Sendable (String) -> DatabaseAddress,
        archives: ReplayArchives,
        producer: KafkaProducer,
        progress: @escaping @Sendable (Int) -> Void,
        isInterrupted: @escaping @Sendable () -> Bool
    ) {
        self.databases = databases
        self.archives = archives
        self.producer = producer
        self.progress = progress
        self.isInterrupted = isInterrupted
    }

    /// Runs a body with a runner that alone may replay the logs of some services.
    ///
    /// - Parameters:
    ///   - services: The services whose logs are replayed.
    ///   - databases: The addresses of their databases.
    ///   - archives: The months that are in files.
    ///   - kafka: The settings of the broker's client.
    ///   - progress: Gets the number of events that were sent.
    ///   - isInterrupted: Whether the replay was asked to stop.
    ///   - body: Gets the runner.
    /// - Returns: What the body returns.
    /// - Throws: `OperatorError` that says who replays one of the logs; what the body throws.
    package static func withLocks<R: Sendable>(
        of services: [String],
        databases: @escaping @Sendable (String) -> DatabaseAddress,
        archives: ReplayArchives,
        kafka: KafkaSettings,
        progress: @escaping @Sendable (Int) -> Void,
        isInterrupted: @escaping @Sendable () -> Bool,
        _ body: @escaping @Sendable (ReplayRunner) async throws -> R
    ) async throws -> R {
        try await OperatorLockStore.withLocks(services.map(databases)[...]) {
            try await withProducer(kafka) { producer in
                try await body(
                    ReplayRunner(
                        databases: databases,
                        archives: archives,
                        producer: producer,
                        progress: progress,
                        isInterrupted: isInterrupted
                    )
                )
            }
        }
    }

    /// Runs a body with a producer that works meanwhile.
    static func withProducer<R: Sendable>(
        _ settings: KafkaSettings,
        _ body: (KafkaProducer) async throws -> R
    ) async throws -> R {
        let producer: KafkaProducer
        do {
            producer = try KafkaProducer(
                settings: settings,
                logger: Logger(label: "counterfoil") { _ in SwiftLogNoOpLogHandler() }
            )
        } catch {
            throw refusal(error)
        }
        let running = Task { try await producer.run() }
        defer { running.cancel() }
        return try await body(producer)
    }

    /// Sends the events that a journal has left, and updates the journal.
    ///
    /// - Returns: Whether everything was sent; it was not if the replay was interrupted.
    /// - Throws: ``OperatorError``.
    package func run(_ journal: inout ReplayJournal, journalPath: String) async throws -> Bool {
        for service in journal.selection.services {
            let address = databases(service)
            let replay = try await replay(of: service, journal)
            let topics = journal.selection.selectedTopics.filter { $0.producer.rawValue == service }
            let isThrough =
                topics.contains(where: \.isCompacted)
                ? try await sendCompacted(replay, address, &journal)
                : try await send(replay, address, &journal, journalPath)
            try journal.write(to: journalPath)
            guard isThrough else { return false }
        }
        journal.isDone = true
        try journal.write(to: journalPath)
        return true
    }

    /// Sends the events of a file.
    ///
    /// - Returns: Whether everything was sent.
    /// - Throws: ``OperatorError``.
    package func run(_ journal: ReplayJournal, from file: EventFileReader) async throws -> Bool {
        var journal = journal
        var replays: [String: EventReplay] = [:]
        let selection = journal.selection
        do {
            let cursor = try file.open()
            var lines = try cursor.next()
            while !lines.isEmpty {
                for (service, lines) in Dictionary(grouping: lines, by: \.service) {
                    if replays[service] == nil {
                        replays[service] = try await self.replay(of: service, journal)
                    }
                    guard let replay = replays[service] else { continue }
                    let rows = lines.map(\.row.row).filter(selection.contains)
                    try Self.refuseCompacted(rows)
                    try await send(rows, replay, &journal)
                }
                lines = try cursor.next()
            }
            return true
        } catch is Interrupted {
            return false
        }
    }

    /// Refuses compacted topics: a file does not say which event of a key is the newest, which is
    /// the one that such a topic keeps.
    private static func refuseCompacted(_ rows: [OutboxRow]) throws(OperatorError) {
        let compacted = Set(Topics.all.filter(\.isCompacted).map(\.name))
        guard let topic = rows.map(\.event.topic).first(where: compacted.contains) else { return }
        throw OperatorError(
            .failed,
            "\(topic) keeps only the newest message of each key; replay it from the log, not a file."
        )
    }

    private func replay(of service: String, _ journal: ReplayJournal) async throws -> EventReplay {
        EventReplay(
            id: journal.id,
            service: service,
            epoch: try await ReplayReader.epoch(databases(service)),
            consumer: journal.consumer
        )
    }

    private struct Interrupted: Error {}

    private func send(
        _ replay: EventReplay,
        _ address: DatabaseAddress,
        _ journal: inout ReplayJournal,
        _ journalPath: String
    ) async throws -> Bool {
        do {
            var kept = journal
            defer { journal = kept }
            try await ReplayReader.read(
                address,
                after: kept.place(in: replay.service),
                through: kept.end(of: replay.service),
                archives: archives
            ) { rows in
                guard let last = rows.last else { return }
                let selection = kept.selection
                try await send(
                    rows.filter(selection.contains),
                    replay,
                    &kept,
                    journalPath: journalPath
                )
                kept.places[replay.service] = last.place.description
                try kept.write(to: journalPath)
            }
            return true
        } catch is Interrupted {
            return false
        }
    }

    /// Sends the selected events of compacted topics, and then the newest event of each of their keys.
    ///
    /// Such a topic keeps only the newest message of a key, so it ends as the log does, also after an
    /// interruption. Later it starts over, because compacted topics are short. After a kill or a
    /// failure it may end with old events until then.
    private func sendCompacted(
        _ replay: EventReplay,
        _ address: DatabaseAddress,
        _ journal: inout ReplayJournal
    ) async throws -> Bool {
        // It was through before an interruption in the log of another service.
        guard journal.places[replay.service] == nil else { return true }
        var kept = journal
        var touched: Set<String> = []
        let selection = kept.selection
        do {
            var newest: [String: OutboxRow] = [:]
            let end = kept.end(of: replay.service)
            var place = selection.start
            repeat {
                newest = [:]
                place = try await ReplayReader.read(
                    address,
                    after: place,
                    through: nil,
                    archives: archives
                ) { rows in
                    let chosen = rows.filter { row in
                        selection.contains(row) && end.map { row.place <= $0 } ?? true
                    }
                    touched.formUnion(chosen.map(\.event.key))
                    try await send(chosen, replay, &kept)
                    let places = Set(chosen.map(\.place))
                    for row in rows where touched.contains(row.event.key) {
                        newest[row.event.key] = places.contains(row.place) ? nil : row
                    }
                }
                try await sendNewest(newest, replay)
            } while !newest.isEmpty
            kept.places[replay.service] = place.description
            journal = kept
            return true
        } catch is Interrupted {
            try await sendNewest(of: touched, after: selection.start, replay, address)
            // Its events are counted again when it starts over.
            progress(journal.sent)
            return false
        }
    }

    /// Sends the newest event of each of some keys, until the log has no newer one.
    private func sendNewest(
        of keys: Set<String>,
        after start: LogPlace,
        _ replay: EventReplay,
        _ address: DatabaseAddress
    ) async throws {
        guard !keys.isEmpty else { return }
        var place = start
        var newest: [String: OutboxRow] = [:]
        repeat {
            newest = [:]
            place = try await ReplayReader.read(
                address,
                after: place,
                through: nil,
                archives: archives
            ) { rows in
                for row in rows where keys.contains(row.event.key) { newest[row.event.key] = row }
            }
            try await sendNewest(newest, replay)
        } while !newest.isEmpty
    }

    private func sendNewest(_ newest: [String: OutboxRow], _ replay: EventReplay) async throws {
        let last = newest.values.sorted { $0.place < $1.place }
        for chunk in last.chunks(of: Self.chunkMax) {
            try await sendRecords(of: chunk, replay)
        }
    }

    /// The largest number of messages in flight.
    private static let chunkMax = 500

    private func send(
        _ rows: [OutboxRow],
        _ replay: EventReplay,
        _ journal: inout ReplayJournal,
        journalPath: String? = nil
    ) async throws {
        // Events that the plan named as unreadable are skipped; without that option the replay
        // would have been refused.
        let rows = rows.filter { ReplayOutline.problem(of: $0.event) == nil }
        let size = min(Self.chunkMax, max(1, journal.rate / 5))
        for chunk in rows.chunks(of: size) {
            guard !isInterrupted() else { throw Interrupted() }
            let begun = ContinuousClock.now
            try await sendRecords(of: chunk, replay)
            journal.sent += chunk.count
            progress(journal.sent)
            if let journalPath, let last = chunk.last {
                journal.places[replay.service] = last.place.description
                try journal.write(to: journalPath)
            }
            let due = begun + .seconds(Double(chunk.count) / Double(journal.rate))
            if due > .now { try await Task.sleep(until: due, clock: .continuous) }
        }
    }

    /// Sends events at once, and waits until the broker has them.
    private func sendRecords(
        of rows: ArraySlice<OutboxRow>,
        _ replay: EventReplay
    ) async throws {
        let records = try await records(of: rows, replay)
        _ = try await Self.sending { try await producer.send(records) }
    }

    /// The messages of events, each with the place of the one before it in its chain.
    private func records(
        of rows: ArraySlice<OutboxRow>,
        _ replay: EventReplay
    ) async throws -> [KafkaRecord] {
        try await DatabaseReader.read(databases(replay.service)) { connection in
            try rows.map { row in
                let previous = try EventReplay.previous(of: row, on: connection)
                return replay.record(for: row, previous: previous)
            }
        }
    }

    private static func sending<R>(_ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch let error as KafkaError {
            throw refusal(error)
        }
    }

    private static func refusal(_ error: KafkaError) -> OperatorError {
        OperatorError(
            error.code == .configuration ? .usage : .unavailable,
            "The broker has not taken the events: \(error). Set KAFKA_BOOTSTRAP_SERVERS if it is "
                + "elsewhere."
        )
    }
}

extension Array {
    /// Its elements in order, in chunks of a given size.
    fileprivate func chunks(of size: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
    }
}
