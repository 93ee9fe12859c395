/// Decides when a member of a group looks whether missing topics of its subscription exist by now.
///
/// librdkafka looks for them seldom, because each of its looks at all topics of a subscription costs as much
/// as several fetches. A topic of which the member has a partition exists. So do those that a look finds, whose
/// partitions other members have.
///
/// Pure.
struct TopicLooks {
    /// The time between two looks while a topic is missing.
    static let interval = Duration.seconds(1)

    /// The topics that have not been seen.
    private(set) var missing: Set<String>
    private var nextLook: ContinuousClock.Instant

    /// Begins with topics of which none has been seen.
    ///
    /// librdkafka itself asks for them at once, so the first look comes later.
    init(for topics: [String], at start: ContinuousClock.Instant) {
        missing = Set(topics)
        nextLook = start + Self.interval
    }

    /// Whether it is time to look; if so, the next look is due an interval later.
    mutating func areDue(at now: ContinuousClock.Instant) -> Bool {
        guard !missing.isEmpty, now >= nextLook else { return false }
        nextLook = now + Self.interval
        return true
    }

    /// Notes the topics that a look has found.
    mutating func found(_ topics: Set<String>) { missing.subtract(topics) }

    /// Notes a rebalance.
    ///
    /// A topic may be gone if its partitions are, and may be made again.
    mutating func note(
        assigned: [KafkaTopicPartition],
        revoked: [KafkaTopicPartition],
        at now: ContinuousClock.Instant
    ) {
        if !revoked.isEmpty {
            missing.formUnion(revoked.map(\.topic))
            nextLook = now + Self.interval
        }
        missing.subtract(assigned.map(\.topic))
    }
}
