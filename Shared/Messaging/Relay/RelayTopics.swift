import EventTypes
import Kafka
import Logging
import Synchronization

/// The topics that a relay writes: those of its service, and those of dead letters.
final class RelayTopics: Sendable {
    /// The service's own topics.
    let own: [Topic]
    private let settings: TopicSettings
    private let logger: Logger
    private let areThere = Atomic(false)
    private let areUsed = Atomic(true)
    private let becameBusy = Signal()
    /// The pause between two looks if nobody waits for the topics, as a multiple of the usual one.
    private static let patience = 5
    /// The dead-letter topics that existed when this leader looked for them.
    private let deadLetters = Mutex<Set<String>>([])
    /// The number of partitions that each of the service's topics had when it was last looked for.
    private let partitionCounts = Mutex<[String: Int]>([:])

    init(_ own: [Topic], _ settings: TopicSettings, _ logger: Logger) {
        self.own = own
        self.settings = settings
        self.logger = logger
    }

    /// Whether every topic of the service has been seen.
    var exist: Bool {
        get { areThere.load(ordering: .relaxed) }
        set { areThere.store(newValue, ordering: .relaxed) }
    }

    /// Whether events are being published, or were not confirmed by all consumers yet.
    var isBusy: Bool {
        get { areUsed.load(ordering: .relaxed) }
        set {
            let wasBusy = areUsed.exchange(newValue, ordering: .relaxed)
            if newValue, !wasBusy { becameBusy.send() }
        }
    }

    /// The pause between two looks for a loss.
    ///
    /// Nothing waits for the topics of an idle service, so they are looked for less often.
    func pause(_ interval: Duration) -> Duration { isBusy ? interval : interval * Self.patience }

    /// Waits until it is time to look for a loss again.
    ///
    /// If the service becomes busy meanwhile, the next look is an interval away at most.
    ///
    /// - Parameters:
    ///   - interval: The pause between two looks of a busy service.
    ///   - willIdle: Called before the longer pause of an idle service.
    /// - Throws: `CancellationError`.
    func rest(_ interval: Duration, willIdle: () -> Void = {}) async throws {
        if !isBusy {
            willIdle()
            try await becameBusy.wait(atMost: pause(interval))
            guard isBusy else { return }
        }
        try await Task.sleep(for: interval)
    }

    /// Waits until the broker has lost one of the service's topics.
    func waitForLoss(_ admin: KafkaAdmin, every interval: Duration) async throws {
        while true {
            try await rest(interval)
            // An unreachable broker says nothing about its log.
            guard exist, let gone = try? await lost(admin), !gone.isEmpty else { continue }
            exist = false
            return
        }
    }

    /// The service's topics that the broker does not have.
    func missing(_ admin: KafkaAdmin) async throws -> [Topic] {
        var missing: [Topic] = []
        for topic in own {
            let count = try await admin.partitions(of: topic.name)
            partitionCounts.withLock { $0[topic.name] = count }
            if count == nil { missing.append(topic) }
        }
        return missing
    }

    /// The service's topics that the broker has lost: missing in two answers, a second apart.
    ///
    /// A broker that starts up may answer briefly that it does not know a topic. One such answer
    /// must not begin a new log, because that publishes unconfirmed events again.
    func lost(
        _ admin: KafkaAdmin,
        pause: () async throws -> Void = { try await Task.sleep(for: .seconds(1)) }
    ) async throws -> [Topic] {
        guard try await !missing(admin).isEmpty else { return [] }
        try await pause()
        return try await missing(admin)
    }

    /// Whether the broker has lost one of the partitions: its topic, or a part of it.
    func hasLost(_ partitions: [KafkaTopicPartition], _ admin: KafkaAdmin) async throws -> Bool {
        guard try await lost(admin).isEmpty else { return true }
        let counts = partitionCounts.withLock { $0 }
        return partitions.contains { Int($0.partition) >= counts[$0.topic] ?? 0 }
    }

    /// The rows of a batch that are published; the others are in the log alone.
    static func published(_ rows: [OutboxRow]) -> [OutboxRow] {
        rows.filter { $0.event.topic != Topics.logOnly }
    }

    /// The message of an event of the log.
    ///
    /// The events of a chain go to one partition, so that the members of a consumer group do not wait
    /// for each other's places. If the topic gets more partitions, chains move to others.
    ///
    /// - Parameters:
    ///   - row: The event.
    ///   - service: The service that publishes it.
    ///   - epoch: The number of the broker's log.
    ///   - tips: The newest event of each chain; the event is added.
    /// - Returns: The message.
    func record(
        of row: OutboxRow,
        service: String,
        epoch: Int32,
        _ tips: inout ChainTips
    ) -> KafkaRecord {
        let isOwn = own.contains { $0.name == row.event.topic }
        let previous =
            isOwn && EventChain.isLinked(row.event.topic) ? tips.append(row) : nil
        var record = EventHeaders.record(
            for: row,
            service: service,
            epoch: epoch,
            previous: previous
        )
        if previous != nil, let count = partitionCounts.withLock({ $0[row.event.topic] }) {
            record.partition = Int32(EventChain.slot(of: row.event.key) % UInt64(max(count, 1)))
        }
        return record
    }

    /// Checks repeatedly, until cancelled, whether missing topics of the service exist by now.
    ///
    /// A relay that does not lead does not learn when the leader creates them.
    func look(_ kafka: KafkaSettings, every interval: Duration) async {
        while !Task.isCancelled {
            // If cancelled, the loop ends. Topics that exist are watched by the leader.
            try? await Task.sleep(for: exist ? interval * Self.patience : interval)
            // Without a client, as without a broker, nothing is known: the next check may find them.
            guard !exist, let admin = try? KafkaAdmin(settings: kafka, logger: logger) else {
                continue
            }
            if let missing = try? await missing(admin), missing.isEmpty { exist = true }
            await admin.close()
        }
    }

    /// Creates the missing topics of the service.
    func makeMissing(_ admin: KafkaAdmin) async throws {
        for topic in try await missing(admin) {
            try await make(
                [topic.name],
                partitions: topic.fixedPartitions,
                isCompacted: topic.isCompacted,
                admin
            )
        }
        exist = true
    }

    /// Creates the dead-letter topics that some records need and that do not exist yet.
    ///
    /// It runs before the records are sent. A producer would wait half a minute for a missing
    /// topic, and the service's other events would have to wait too.
    func makeDeadLetters(of records: [KafkaRecord], _ admin: KafkaAdmin) async throws {
        let wanted = Set(records.map(\.topic)).subtracting(own.map(\.name))
        let unseen = wanted.subtracting(deadLetters.withLock { $0 })
        guard !unseen.isEmpty else { return }
        var missing: [String] = []
        for name in unseen.sorted() where try await admin.partitions(of: name) == nil {
            missing.append(name)
        }
        try await make(missing, isCompacted: false, admin)
        deadLetters.withLock { $0.formUnion(unseen) }
    }

    /// Forgets the known dead-letter topics, because they may have been deleted.
    func forgetDeadLetters() { deadLetters.withLock { $0 = [] } }

    private func make(
        _ names: [String],
        partitions: Int? = nil,
        isCompacted: Bool,
        _ admin: KafkaAdmin
    ) async throws {
        guard !names.isEmpty else { return }
        let definitions = names.map { name in
            KafkaTopicDefinition(
                name: name,
                partitions: partitions ?? settings.partitions,
                replicationFactor: settings.replicationFactor,
                configuration: TopicSettings.configuration(isCompacted: isCompacted)
            )
        }
        let made = try await admin.createTopics(definitions)
        if !made.isEmpty {
            logger.info(
                "Made topics",
                metadata: ["kafka.topics": "\(made.joined(separator: ", "))"]
            )
        }
    }
}
