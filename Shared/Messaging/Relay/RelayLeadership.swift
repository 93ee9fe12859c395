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
    let topics: RelayTopics
    let client: PostgresClient
    private let kafka: KafkaSettings
    private let signal: Signal
    private let spans: SpanRecorder
    let logger: Logger
    let metrics: RelayMetrics
    private let offsets: ConsumerOffsets
    private let news = RowNews()

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

    /// Has the relay look for rows, because some were committed.
    func wake() {
        news.note()
        signal.send()
    }

    /// Does the same, unless a look has found the rows already.
    ///
    /// - Parameter xid: The first part of their place; `nil` if it is not known.
    func wake(forRowsAt xid: UInt64?) {
        if news.note(rowsAt: xid) { signal.send() }
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

    /// The knowledge of the leader while it publishes.
    private struct State {
        var progress: RelayProgress
        var heads: SealHeads
        var sent = SentBatches()
        var pace = Pace()
        var unhurried: UnhurriedEvents
    }

    private func publish(
        _ lead: Lead,
        _ retries: Retries,
        _ watch: RelayWatch,
        _ producer: KafkaProducer,
        _ admin: KafkaAdmin
    ) async throws {
        lead.move()
        var state = try await begin(admin, lead)
        let clock = ContinuousClock()
        var watchedAt = clock.now
        var unsettled = UnsettledEvents()
        while true {
            try Task.checkCancellation()
            lead.move()
            state.pace.begin()
            let published = state.progress.published
            let isSealing = try await sealEarlierRows(&state.heads, through: published)
            let outcome = try await sendBatch(&state, lead, producer, admin)
            let hasMoved = try await confirm(&state, lead, admin)
            if hasMoved || (!outcome.hasToWait && state.sent.isEmpty) { retries.succeeded() }
            if !outcome.isUnsettled { unsettled.settle() }
            if clock.now - watchedAt >= Self.watchInterval {
                watchedAt = clock.now
                // Once every event is confirmed, nothing has to be compared.
                if state.progress.isUnconfirmed {
                    watch.ask(about: state.progress)
                } else {
                    metrics.forgetLag()
                }
            }
            if let sight = try watch.take() {
                try await follow(sight, &state.progress, lead, admin)
            }
            switch outcome {
            case .full: continue
            case .sent(let count, let areAll):
                try await state.pace.rest(afterBatchOf: count)
                if areAll, !isSealing { try await waitForRows(&state, lead, admin) }
            case .unsettled: try await wait(&state, unsettled.wait(at: .now), lead, admin)
            case .early(let time): try await wait(&state, .zero...time, lead, admin)
            case .empty where isSealing: continue
            case .empty: try await waitForRows(&state, lead, admin)
            }
        }
    }

    /// Reads how far the relay has come, and creates topics that are gone.
    private func begin(_ admin: KafkaAdmin, _ lead: Lead) async throws -> State {
        // The seals are read after the place, so that rows sealed in between are not sealed again.
        var state = try await client.withConnection { [topics] connection in
            let progress = try RelayStore.progress(on: connection)
            let heads = try SealStore.heads(of: SealedLog.outboxName, on: connection)
            try RelayStore.requireRecentDatabase(for: progress, on: connection)
            let unhurried = UnhurriedEvents(of: topics.own)
            return State(progress: progress, heads: heads, unhurried: unhurried)
        }
        // Another relay may have led in between and created missing topics.
        topics.forgetDeadLetters()
        if try await !topics.lost(admin).isEmpty {
            try await beginNewLog(&state.progress, lead, admin)
        }
        topics.exist = true
        return state
    }

    /// Rests, then waits for a time or until rows were committed, and stores what the broker confirms.
    private func wait(
        _ state: inout State,
        _ bounds: ClosedRange<Duration>,
        _ lead: Lead,
        _ admin: KafkaAdmin
    ) async throws {
        let end = ContinuousClock.now + bounds.upperBound
        try await Task.sleep(for: bounds.lowerBound)
        while ContinuousClock.now < end, !news.isThere {
            try await signal.wait(atMost: ContinuousClock.now.duration(to: end))
            _ = try await confirm(&state, lead, admin)
        }
    }

    /// Waits until rows were committed, and stores meanwhile what the broker confirms.
    private func waitForRows(
        _ state: inout State,
        _ lead: Lead,
        _ admin: KafkaAdmin
    ) async throws {
        var isWaiting = true
        while isWaiting, !news.isThere {
            // The consumers' offsets are watched until they have confirmed every event.
            topics.isBusy = state.progress.isUnconfirmed || !state.sent.isEmpty
            try await signal.wait(atMost: topics.isBusy ? Self.watchInterval : Self.idlePause)
            lead.move()
            // Once the broker has confirmed everything, the end of a wait is a reason to look for rows.
            isWaiting = try await confirm(&state, lead, admin) || !state.sent.isEmpty
        }
    }

    /// Reads the next rows, and sends them if they may be published now.
    private func sendBatch(
        _ state: inout State,
        _ lead: Lead,
        _ producer: KafkaProducer,
        _ admin: KafkaAdmin
    ) async throws -> RelayOutcome {
        // Rows that are committed after this look give another signal.
        news.beginLook()
        let place = state.sent.last?.place ?? state.progress.published
        let (rows, hasMore) = try await client.withConnection { connection in
            try EventLog.nextRows(after: place, limit: Self.batchSize, on: connection)
        }
        guard let last = rows.last else { return hasMore ? .unsettled : .empty }
        news.saw(rowsThrough: last.place.xid)
        if rows.count < Self.batchSize,
            let wait = state.unhurried.wait(of: rows.lazy.map(\.event.topic), at: .now)
        {
            return .early(wait)
        }
        topics.isBusy = true
        let epoch = state.progress.epoch
        let start = spans.start
        var tips = state.sent.last?.tips ?? state.progress.tips
        let records = RelayTopics.published(rows).map { row in
            topics.record(of: row, service: service, epoch: epoch, &tips)
        }
        try await topics.makeDeadLetters(of: records, admin)
        // If this process was stopped since it read the rows, it may have lost the lead.
        try lead.requireRecent()
        lead.move()
        let batch = SentBatch(
            rows: rows,
            place: last.place,
            records: records,
            tips: tips,
            start: start,
            mayBeFollowed: topics.areLinked(records)
        )
        state.sent.append(batch)
        producer.send(records) { [signal] answer in
            batch.note(answer)
            signal.send()
        }
        return rows.count == Self.batchSize ? .full : .sent(rows.count, areAll: !hasMore)
    }

    /// Stores the place behind what the broker has confirmed.
    ///
    /// It first waits for the broker if nothing more may be sent before that.
    ///
    /// - Returns: Whether the place has moved.
    private func confirm(
        _ state: inout State,
        _ lead: Lead,
        _ admin: KafkaAdmin
    ) async throws -> Bool {
        guard !state.sent.mayGrow else { return try await store(&state, lead, admin) }
        let waitedSince = ContinuousClock.now
        while !state.sent.areAnswered { try await signal.wait(atMost: Self.idlePause) }
        state.pace.leaveOut(.now - waitedSince)
        var hasMoved = false
        while try await store(&state, lead, admin) { hasMoved = true }
        return hasMoved
    }

    /// Seals what the broker has confirmed, in the order in which it was sent, and stores the place behind it.
    ///
    /// - Returns: Whether the place has moved.
    private func store(
        _ state: inout State,
        _ lead: Lead,
        _ admin: KafkaAdmin
    ) async throws -> Bool {
        if let (batch, error) = state.sent.takeFailed() {
            guard error.code == .unknownTopic else { throw error }
            // Its rows are read again, and all that were sent behind it.
            news.note()
            try await handleUnknownTopic(&state.progress, batch.records, lead, admin)
            return false
        }
        let confirmed = state.sent.takeConfirmed()
        guard !confirmed.isEmpty else { return false }
        let (place, tips) = (state.progress.published, state.progress.tips)
        var touched: Set<KafkaTopicPartition> = []
        for (batch, deliveries) in confirmed {
            let offsets = RelayProgress.offsets(of: deliveries, for: batch.records)
            let isHigher = state.progress.publish(
                through: batch.place,
                offsets: offsets,
                tips: batch.tips
            )
            guard isHigher else {
                try await beginNewLog(&state.progress, lead, admin)
                throw LogIsLost()
            }
            touched.formUnion(offsets.keys)
        }
        let rows = confirmed.flatMap(\.batch.rows)
        // Rows that were published before seals existed must be sealed first.
        let seals =
            state.heads.sealed < place ? [] : state.heads.seal(SealedRow.sealing(rows))
        let (saved, partitions) = (state.progress, Array(touched))
        let chains = saved.tips.changed(since: tips)
        try await client.withConnection { connection in
            try RelayStore.save(
                saved,
                by: lead,
                touched: partitions,
                chains: chains,
                seals: seals,
                on: connection
            )
        }
        metrics.published(RelayTopics.published(rows).lazy.map(\.event.type))
        if spans.isOn {
            for (batch, _) in confirmed {
                let published = RelayTopics.published(batch.rows)
                spans.record(published.compactMap { Span(publishing: $0.event, from: batch.start) })
            }
        }
        return true
    }
}
