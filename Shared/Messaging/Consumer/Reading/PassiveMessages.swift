import EventTypes
import Kafka

/// Keeps messages whose events a consumer does not act on, until others come.
///
/// The consumer only notes that it has read them. So they share a database transaction with the next
/// events that it acts on, and these do not find it at work with the others.
///
/// Pure.
struct PassiveMessages {
    /// The longest time for which messages are kept.
    static let patience = Duration.milliseconds(50)

    private let eventTypes: Set<EventType>
    private let countMax: Int
    private var kept: [KafkaMessage] = []
    /// The time since which the oldest of them is kept.
    private var since: ContinuousClock.Instant?

    /// Makes a rule without messages.
    ///
    /// - Parameters:
    ///   - eventTypes: The types of the events that the consumer acts on.
    ///   - countMax: The number of messages from which on none are kept.
    init(besides eventTypes: Set<EventType>, countMax: Int) {
        self.eventTypes = eventTypes
        self.countMax = countMax
    }

    /// The number of messages that are kept.
    var count: Int { kept.count }

    /// Takes the kept messages, without those of partitions that now belong to another consumer.
    mutating func take(except revoked: [KafkaTopicPartition]) -> [KafkaMessage] {
        defer { kept = [] }
        return kept.filter { !revoked.contains($0.topicPartition) }
    }

    /// Keeps messages if they may wait.
    ///
    /// - Parameters:
    ///   - messages: The messages, those that were taken included.
    ///   - now: The time.
    /// - Returns: Whether they are kept. Otherwise they are to be applied.
    mutating func keep(_ messages: [KafkaMessage], at now: ContinuousClock.Instant) -> Bool {
        let begun = since ?? now
        since = nil
        guard !messages.isEmpty, messages.count < countMax,
            begun.duration(to: now) < Self.patience, messages.allSatisfy({ isPassive($0) })
        else { return false }
        (kept, since) = (messages, begun)
        return true
    }

    /// Whether a message is an event that the consumer does not act on.
    private func isPassive(_ message: KafkaMessage) -> Bool {
        EventHeaders.typeAndID(of: message).type.map { !eventTypes.contains($0) } ?? false
    }
}
