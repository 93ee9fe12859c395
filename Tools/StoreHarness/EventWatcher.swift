public import EventTypes
public import Kafka
import Logging
import Synchronization

/// Sees every event that is in the broker or comes into it; a member of no group, so nobody
/// notices.
public final class EventWatcher: Sendable {
    /// An event, with where it stands in the broker.
    public struct Sighting: Sendable {
        /// The message as it came.
        public var message: KafkaMessage
        /// Its headers by name.
        public var headers: [String: String]

        /// The topic.
        public var topic: String { message.topic }
        /// The event's id.
        public var id: String { headers["ce_id"] ?? "" }
        /// The event's type.
        public var type: String { headers["ce_type"] ?? "" }
        /// The transaction or product it is about.
        public var subject: String { headers["ce_subject"] ?? "" }
        /// The account or product that orders it.
        public var key: String { String(decoding: message.key ?? [], as: UTF8.self) }
        /// The event's data.
        public var data: String { String(decoding: message.value ?? [], as: UTF8.self) }
    }

    private let seen: SightingLog
    private let task: Task<Void, Never>

    private final class SightingLog: Sendable {
        let sightings = Mutex<[Sighting]>([])
        private let places = Mutex<Set<String>>([])

        func add(_ messages: [KafkaMessage]) {
            for message in messages {
                let place = "\(message.topic)/\(message.partition)/\(message.offset)"
                // Read again after a seek.
                guard places.withLock({ $0.insert(place).inserted }) else { continue }
                let headers = message.headers.map {
                    ($0.name, String(decoding: $0.value, as: UTF8.self))
                }
                let sighting = Sighting(
                    message: message,
                    headers: Dictionary(headers) { first, _ in first }
                )
                sightings.withLock { $0.append(sighting) }
            }
        }
    }

    private init(seen: SightingLog, task: Task<Void, Never>) {
        self.seen = seen
        self.task = task
    }

    /// Starts to watch all topics of the store.
    ///
    /// - Parameter store: The store.
    /// - Returns: The watcher.
    /// - Throws: An error when the broker's settings are refused.
    public static func start(_ store: StoreHarness) throws -> EventWatcher {
        let consumer = try KafkaConsumer(
            settings: store.kafkaSettings(clientID: "watcher"),
            followingTopics: Topics.all.map(\.name),
            logger: Logger(label: "watcher", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        let seen = SightingLog()
        let task = Task {
            // Where "the end" is would be found out some time later; the beginning is certain.
            var unread: [KafkaTopicPartition] = []
            while !Task.isCancelled {
                // A broker that is away comes back; polling goes on.
                let poll = try? await consumer.poll(max: 500, timeout: .milliseconds(50))
                unread += poll?.assigned ?? []
                for partition in unread where (try? await consumer.seek(partition, to: -2)) != nil {
                    unread.removeAll { $0 == partition }
                }
                seen.add(poll?.messages ?? [])
            }
            await consumer.close()
        }
        return EventWatcher(seen: seen, task: task)
    }

    /// What was seen, in the order it was.
    public var sightings: [Sighting] { seen.sightings.withLock { $0 } }

    /// The sightings about one subject.
    public func sightings(of subject: some CustomStringConvertible) -> [Sighting] {
        sightings.filter { $0.subject == "\(subject)" }
    }

    /// Waits until an event of a type is seen about a subject.
    @discardableResult
    public func sighting(
        of type: EventType,
        about subject: some CustomStringConvertible & Sendable,
        within limit: Duration = .seconds(60)
    ) async throws -> Sighting {
        try await eventually(within: limit, "\(type) of \(subject) to cross the broker") {
            self.sightings(of: subject).first { $0.type == type.rawValue }
        }
    }

    /// Stops.
    public func stop() async {
        task.cancel()
        await task.value
    }
}
