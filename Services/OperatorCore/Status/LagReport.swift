package import EventTypes

/// The lag of each consumer.
package struct LagReport: Encodable, Sendable {
    /// A consumer and a topic.
    package struct Entry: Encodable, Sendable {
        /// The consumer.
        package let consumer: String
        /// The topic.
        package let topic: String
        /// The producer of the topic.
        package let producer: String
        /// The number of events that it has yet to act on.
        package let events: Int
        /// Whether there may be more.
        package let isAtLeast: Bool
        /// The time of the oldest of them.
        package let oldest: StoreTime?
        /// The age of the oldest of them, in milliseconds.
        package let ageMilliseconds: Int64
    }

    /// The consumers, in the order of the topics.
    package let consumers: [Entry]

    init(_ lags: [ConsumerLag], at now: StoreTime) {
        consumers = lags.map { lag in
            Entry(
                consumer: lag.consumer,
                topic: lag.topic,
                producer: lag.producer,
                events: lag.events.count,
                isAtLeast: lag.events.isAtLeast,
                oldest: lag.oldest,
                ageMilliseconds: lag.oldest.map { Age(of: $0, at: now).milliseconds } ?? 0
            )
        }
    }
}
