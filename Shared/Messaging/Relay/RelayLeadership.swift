import EventTypes
import Kafka
import Logging
import Postgres
import Seals
import StoreTracing

/// The work of the leading relay: it reads settled rows, publishes them, stores its place, and
/// watches for a broker that has lost its log.
final class RelayLeadership: Sendable {
    private let service: String
    private let topics: RelayTopics
    private let client: PostgresClient
    private let kafka: KafkaSettings
    private let signal: Signal
    private let spans: SpanRecorder
    private let logger: Logger
    private let metrics: RelayMetrics
    private let offsets: ConsumerOffsets

    /// The number of rows that are read and published at once.
    private static let batchSize = LogSeal.rowsMax
    /// The longest rest of the relay when no signal wakes it and every event is confirmed.
    ///
    /// The leader moves at each look, so it is less than half of ``LockHolder/silenceMax``.
    private static let idlePause = Duration.seconds(5)
    /// The time between two checks of the consumers' offsets and of the topics.
    private static let watchInterval = Duration.seconds(1)
    /// The longest wait of a record for the broker, shorter than the time after which another
    /// process takes the lead: when a stopped process wakes up, its records are too old to be sent.
    private static let deliveryTimeoutMilliseconds = 8000

    init(
        service: String,
        topics: [Topic],
        client: PostgresClient,
        kafka: KafkaSettings,
        topicSettings: TopicSettings,
        signal: Signal,
        spans: SpanRecorder = .off,
        logger: Logger
    ) {
        self.service = service
        self.topics = RelayTopics(topics, topicSettings, logger)
        self.client = client
        self.kafka = kafka
        self.signal = signal
        self.spans = spans
        self.logger = logger
        offsets = ConsumerOffsets(logger: logger)
        metrics = RelayMetrics(consumers: Set(topics.flatMap(\.consumers)))
    }

    /// Whether this process has seen that every topic of the service exists.
    var topicsExist: Bool { topics.exist }

    /// Creates the topics before the first event is published; the leader handles topics lost
    /// later.
    func checkTopics() async throws {
        let admin = try KafkaAdmin(settings: kafka, logger: logger)
        do {
            let progress = try await client.withConnection { connection in
                try RelayStore.progress(on: connection)
            }
            if progress.published == .start {
                try await topics.makeMissing(admin)
            } else {
                topics.exist = try await topics.missing(admin).isEmpty
            }
        } catch {
            await admin.close()
            throw error
        }
        await admin.close()
    }

    /// Checks for missing topics until cancelled.
    func lookForTopics() async { await topics.look(kafka, every: Self.watchInterval) }

    /// Publishes until cancelled.
    ///
    /// - Parameters:
    ///   - lead: The lead that fences every write of the relay's place.
    ///   - retries: Told of a success whenever events were published or none are left.
    /// - Throws: Errors of the database or the broker. Nothing is lost by starting again.
    func run(_ lead: Lead, _ retries: Retries = Retries()) async throws {
        let admin = try KafkaAdmin(settings: kafka, logger: logger)
        logger.debug("This relay leads", metadata: ["lead.term": "\(lead.term)"])
        // From here on the next leader reports the consumers' lag; this process no longer knows it.
        defer { metrics.forgetLag() }
        do {
            while true {
                do {
                    try await work(lead, retries, admin)
                } catch is LogIsLost {
                    // A producer that the broker has forgotten would retry until its messages time
                    // out.
                    continue
                }
            }
        } catch {
            await admin.close()
            throw error
        }
    }

    /// The broker's log that a producer wrote into is gone.
    private struct LogIsLost: Error {}

    /// Publishes with one producer.
    private func work(_ lead: Lead, _ retries: Retries, _ admin: KafkaAdmin) async throws {
        let timeout = ["message.timeout.ms": "\(Self.deliveryTimeoutMilliseconds)"]
        let producer = try KafkaProducer(
            settings: KafkaSettings(
                bootstrapServers: kafka.bootstrapServers,
                clientID: kafka.clientID,
                properties: timeout.merging(kafka.properties) { _, own in own }
            ),
            logger: logger
        )
        let watch = RelayWatch(
            didLook: { [signal] in signal.send() },
            look: RelayWatch.comparing(topics, offsets, with: admin)
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await producer.run() }
            group.addTask { try await watch.run() }
            group.addTask { try await self.publish(lead, retries, watch, producer, admin) }
            // It runs beside publishing, because a send may wait for a lost log until this error
            // ends it.
            group.addTask { try await self.waitForLoss(admin) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func waitForLoss(_ admin: KafkaAdmin) async throws {
        try await topics.waitForLoss(admin, every: Self.watchInterval)
        throw LogIsLost()
    }

    private func publish(
        _ lead: Lead,
        _ retries: Retries,
        _ watch: RelayWatch,
        _ producer: KafkaProducer,
        _ admin: KafkaAdmin
    ) async throws {
        lead.move()
        // The seals are read after the place, so that rows sealed in between are not sealed again.
        var (progress, heads) = try await client.withConnection { connection in
            let progress = try RelayStore.progress(on: connection)
            let heads = try SealStore.heads(of: SealedLog.outboxName, on: connection)
            try RelayStore.requireRecentDatabase(for: progress, on: connection)
            return (progress, heads)
        }
        // Another relay may have led in between and created missing topics.
        topics.forgetDeadLetters()
        if try await !topics.lost(admin).isEmpty {
            try await beginNewLog(&progress, lead, admin)
        }
        topics.exist = true
        let clock = ContinuousClock()
        var watchedAt = clock.now
        var pace = Pace()
        var unhurried = UnhurriedEvents(of: topics.own)
        var unsettled = UnsettledEvents()
        while true {
            try Task.checkCancellation()
            lead.move()
            pace.begin()
            let isSealing = try await sealEarlierRows(&heads, through: progress.published)
            let outcome = try await publishBatch(
                &progress,
                &heads,
                &pace,
                &unhurried,
                lead,
                producer,
                admin
            )
            if !outcome.hasToWait { retries.succeeded() }
            if !outcome.isUnsettled { unsettled.settle() }
            if clock.now - watchedAt >= Self.watchInterval {
                watchedAt = clock.now
                // Once every event is confirmed, nothing has to be compared.
                if progress.isUnconfirmed {
                    watch.ask(about: progress)
                } else {
                    metrics.forgetLag()
                }
            }
            if let sight = try watch.take() {
                try await follow(sight, &progress, lead, admin)
            }
            switch outcome {
            case .full: continue
            case .published(let count, let areAll):
                try await pace.rest(afterBatchOf: count)
                if areAll, !isSealing { try await waitForRows(progress) }
            case .unsettled: try await signal.wait(within: unsettled.wait(at: .now))
            case .early(let wait): try await signal.wait(atMost: wait)
            case .empty where isSealing: continue
            case .empty: try await waitForRows(progress)
            }
        }
    }

    /// Waits for the signal that rows were committed.
    ///
    /// It remembers a signal that was given since the last look for rows.
    private func waitForRows(_ progress: RelayProgress) async throws {
        // The consumers' offsets are watched until they have confirmed every event.
        topics.isBusy = progress.isUnconfirmed
        let pause = progress.isUnconfirmed ? Self.watchInterval : Self.idlePause
        try await signal.wait(atMost: pause)
    }

    private enum Outcome {
        /// The batch was full; there may be more rows.
        case full
        /// All rows that were found, so many, are published, and perhaps all that were committed.
        case published(Int, areAll: Bool)
        /// There are rows, but a database transaction older than theirs is still running.
        case unsettled
        /// There are only rows that nobody reads soon; they wait so long for others.
        case early(Duration)
        /// There are no rows.
        case empty

        /// Whether there are rows, but none that is published now.
        var hasToWait: Bool {
            switch self {
            case .unsettled, .early: true
            case .full, .published, .empty: false
            }
        }

        /// Whether a database transaction that is older than the rows is still running.
        var isUnsettled: Bool { if case .unsettled = self { true } else { false } }
    }

    private func publishBatch(
        _ progress: inout RelayProgress,
        _ sealHeads: inout SealHeads,
        _ pace: inout Pace,
        _ unhurried: inout UnhurriedEvents,
        _ lead: Lead,
        _ producer: KafkaProducer,
        _ admin: KafkaAdmin
    ) async throws -> Outcome {
        let place = progress.published
        let (rows, hasMore) = try await client.withConnection { connection in
            try RelayStore.nextRows(after: place, limit: Self.batchSize, on: connection)
        }
        guard let last = rows.last else { return hasMore ? .unsettled : .empty }
        if rows.count < Self.batchSize,
            let wait = unhurried.wait(of: rows.lazy.map(\.event.topic), at: .now)
        {
            return .early(wait)
        }
        topics.isBusy = true
        let epoch = progress.epoch
        let start = spans.start
        var tips = progress.tips
        let published = RelayTopics.published(rows)
        let records = published.map { row in
            topics.record(of: row, service: service, epoch: epoch, &tips)
        }
        try await topics.makeDeadLetters(of: records, admin)
        // If this process was stopped since it read the rows, it may have lost the lead.
        try lead.requireRecent()
        lead.move()
        let deliveries: [KafkaDelivery]
        let sentAt = ContinuousClock.now
        do {
            deliveries = try await producer.send(records)
        } catch {
            guard error.code == .unknownTopic else { throw error }
            try await handleUnknownTopic(&progress, records, lead, admin)
            return .published(records.count, areAll: false)
        }
        pace.leaveOut(.now - sentAt)
        let offsets = RelayProgress.offsets(of: deliveries, for: records)
        let chains = tips.changed(since: progress.tips)
        guard progress.publish(through: last.place, offsets: offsets, tips: tips) else {
            try await beginNewLog(&progress, lead, admin)
            throw LogIsLost()
        }
        let saved = progress
        // Rows that were published before seals existed must be sealed first.
        let seals = sealHeads.sealed < place ? [] : sealHeads.seal(SealedRow.sealing(rows))
        try await client.withConnection { connection in
            try RelayStore.save(
                saved,
                by: lead,
                touched: Array(offsets.keys),
                chains: chains,
                seals: seals,
                on: connection
            )
        }
        metrics.published(published.lazy.map(\.event.type))
        if spans.isOn {
            spans.record(published.compactMap { Span(publishing: $0.event, from: start) })
        }
        return rows.count == Self.batchSize ? .full : .published(rows.count, areAll: !hasMore)
    }

    /// Seals a batch of the rows that an older relay, which had no seals, has published.
    ///
    /// - Returns: Whether there were such rows.
    private func sealEarlierRows(
        _ heads: inout SealHeads,
        through published: LogPlace
    ) async throws -> Bool {
        let sealed = heads.sealed
        guard sealed < published else { return false }
        let rows = try await client.withConnection { connection in
            try EventLog.rows(after: sealed, limit: LogSeal.rowsMax, on: connection)
        }.filter { $0.place <= published }
        guard !rows.isEmpty else {
            logger.warning(
                "Rows that were published are not in the outbox",
                metadata: ["outbox.after": "\(sealed)", "outbox.published": "\(published)"]
            )
            heads.skip(to: published)
            return false
        }
        let seals = heads.seal(SealedRow.sealing(rows))
        try await client.withConnection { connection in
            try SealStore.insert(seals, log: SealedLog.outboxName, on: connection)
        }
        return true
    }

    /// Creates a deleted dead-letter topic again; a missing topic of the service means a lost log.
    private func handleUnknownTopic(
        _ progress: inout RelayProgress,
        _ records: [KafkaRecord],
        _ lead: Lead,
        _ admin: KafkaAdmin
    ) async throws {
        if try await !topics.lost(admin).isEmpty {
            try await beginNewLog(&progress, lead, admin)
            throw LogIsLost()
        }
        topics.forgetDeadLetters()
        try await topics.makeDeadLetters(of: records, admin)
    }

    /// Notes what the consumers have confirmed, or begins a new log if the broker has lost its own.
    private func follow(
        _ sight: RelayWatch.Sight,
        _ progress: inout RelayProgress,
        _ lead: Lead,
        _ admin: KafkaAdmin
    ) async throws {
        guard !sight.isLost else {
            try await beginNewLog(&progress, lead, admin)
            throw LogIsLost()
        }
        let before = progress.confirmed
        let confirmedTips = progress.confirmedTips
        let consumers = Dictionary(uniqueKeysWithValues: topics.own.map { ($0.name, $0.consumers) })
        metrics.record(lag: sight.progress.lag(committed: sight.committed, consumers: consumers))
        progress.confirm(committed: sight.committed, consumers: consumers)
        guard progress.confirmed != before else { return }
        let saved = progress
        try await client.withConnection { connection in
            let chains = saved.confirmedTips.changed(since: confirmedTips)
            try RelayStore.save(saved, by: lead, touched: [], chains: chains, on: connection)
        }
    }

    private func beginNewLog(
        _ progress: inout RelayProgress,
        _ lead: Lead,
        _ admin: KafkaAdmin
    ) async throws {
        progress.restartAfterLoss()
        topics.forgetDeadLetters()
        metrics.lostLog()
        logger.warning(
            "The broker has lost the log of this service; publishing what was not confirmed again",
            metadata: [
                "outbox.epoch": "\(progress.epoch)",
                "outbox.position": "\(progress.published.position)",
            ]
        )
        let saved = progress
        try await client.withTransaction { connection in
            try RelayStore.saveAfterLoss(saved, by: lead, on: connection)
        }
        lead.move()
        try await topics.makeMissing(admin)
    }
}
