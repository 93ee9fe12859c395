import EventTypes
import Kafka
import Logging
import Synchronization

/// The topics that a relay writes: those of its service, and dead letters'.
final class RelayTopics: Sendable {
    /// The service's own.
    let own: [Topic]
    private let settings: TopicSettings
    private let logger: Logger
    private let areThere = Atomic(false)
    /// Dead letters' topics that were there when this leader looked for them.
    private let deadLetters = Mutex<Set<String>>([])

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

    /// Those of the service that the broker does not have.
    func missing(_ admin: KafkaAdmin) async throws -> [Topic] {
        var missing: [Topic] = []
        for topic in own where try await admin.partitions(of: topic.name) == nil {
            missing.append(topic)
        }
        return missing
    }

    /// Looks again and again for those of the service while they are missing, until cancelled.
    ///
    /// A relay that does not lead hears from nobody that the leader has made them.
    func look(_ kafka: KafkaSettings, every interval: Duration) async {
        while !Task.isCancelled {
            try? await Task.sleep(for: interval)  // Cancelled: the condition ends it.
            guard !exist, let admin = try? KafkaAdmin(settings: kafka, logger: logger) else {
                continue
            }
            // A broker that is away says nothing: the next look may find them.
            if let missing = try? await missing(admin), missing.isEmpty { exist = true }
            await admin.close()
        }
    }

    /// Makes those of the service that are missing.
    func makeMissing(_ admin: KafkaAdmin) async throws {
        for topic in try await missing(admin) {
            try await make([topic.name], isCompacted: topic.isCompacted, admin)
        }
        exist = true
    }

    /// Makes the dead letters' topics among those of records, each when it is first needed.
    ///
    /// Before the records are sent: a producer waits half a minute for a topic that is not there, and
    /// the service's other events would wait behind.
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

    /// Forgets which dead letters' topics there are: somebody may have deleted one, or the broker all.
    func forgetDeadLetters() { deadLetters.withLock { $0 = [] } }

    private func make(_ names: [String], isCompacted: Bool, _ admin: KafkaAdmin) async throws {
        guard !names.isEmpty else { return }
        let definitions = names.map { name in
            KafkaTopicDefinition(
                name: name,
                partitions: settings.partitions,
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
