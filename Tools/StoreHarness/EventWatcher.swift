public import EventTypes
public import Kafka
import Logging
import Synchronization

/// Records all events that are or will be in the broker.
///
/// It joins no consumer group, so it does not affect the services.
public final class EventWatcher: Sendable {
    /// An event with its position in the broker.
    public struct Sighting: Sendable {
        /// The raw message.
        public var message: KafkaMessage
        /// The headers by name.
        public var headers: [String: String]

        /// The topic.
        public var topic: String { message.topic }
        /// The event's id.
        public var id: String { headers["ce_id"] ?? "" }
        /// The event's type.
        public var type: String { headers["ce_type"] ?? "" }
        /// The transaction or product of the event.
        public var subject: String { headers["ce_subject"] ?? "" }
        /// The account or product that is the message key.
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
                // The message was read before, ahead of a seek.
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
    /// - Throws: An error if the broker's settings are refused.
    public static func start(_ store: StoreHarness) throws -> EventWatcher {
        let consumer = try KafkaConsumer(
            settings: store.kafkaSettings(clientID: "watcher"),
            followingTopics: Topics.all.map(\.name),
            logger: Logger(label: "watcher", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        let seen = SightingLog()
        let task = Task {
            // Start at the beginning, because the position of the end would only be determined
            // later.
            var unread: [KafkaTopicPartition] = []
            while !Task.isCancelled {
                // An unavailable broker comes back, so polling continues.
                let poll = try? await consumer.poll(max: 500, timeout: .milliseconds(50))
                unread += poll?.assigned ?? []
                for partition in unread
                where (try? await consumer.seek(partition, to: .beginning)) != nil {
                    unread.removeAll { $0 == partition }
                }
                seen.add(poll?.messages ?? [])
            }
            await consumer.close()
        }
        return EventWatcher(seen: seen, task: task)
    }

    /// The recorded events in order.
    public var sightings: [Sighting] { seen.sightings.withLock { $0 } }

    /// Returns the events about one subject.
    public func sightings(of subject: some CustomStringConvertible) -> [Sighting] {
        sightings.filter { $0.subject == "\(subject)" }
    }

    /// Waits for an event of a type about a subject.
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

    /// Stops watching.
    public func stop() async {
        task.cancel()
        await task.value
    }
}
