import EventTypes
import Kafka
import Logging
import StoreHarness

/// The broker's own latency in a purchase, measured with a message that is passed from topic to
/// topic with no work in between.
///
/// Client library, settings and partitions are those of the services. The topics are used by this
/// measurement alone. There is one for each hop, with a consumer that reads all the time, as the
/// services' consumers do.
struct BrokerRelay: Sendable {
    /// The topics that a purchase crosses, in order, between the answer to its payment and its
    /// observer, with the readers there.
    static let hops = [
        (topic: Topics.paymentsTransactions, reader: "receipts, which signs it"),
        (topic: Topics.receiptsIssued, reader: "fulfillment, which puts it into the queue"),
        (topic: Topics.fulfillmentQueues, reader: "fulfillment, which tells its clients"),
    ]

    /// The size of a message, about that of an event.
    static let messageBytes = 1000

    private let producer: KafkaProducer
    private let stages: [(topic: String, consumer: KafkaConsumer)]

    /// Creates the topics and starts to read them.
    ///
    /// - Throws: ``HarnessError`` if a consumer receives nothing.
    static func open(on store: StoreHarness) async throws -> BrokerRelay {
        let settings = store.kafkaSettings(clientID: "broker-relay")
        let logger = Logger(label: "broker-relay") { _ in SwiftLogNoOpLogHandler() }
        let topics = hops.indices.map { "devstore.hop-\($0 + 1)" }
        let admin = try KafkaAdmin(settings: settings, logger: logger)
        try await admin.createTopics(
            topics.map {
                KafkaTopicDefinition(
                    name: $0,
                    partitions: store.options.partitions,
                    replicationFactor: store.broker.replicationFactor
                )
            }
        )
        await admin.close()
        let relay = BrokerRelay(
            producer: try KafkaProducer(settings: settings, logger: logger),
            stages: try topics.map {
                let consumer = try KafkaConsumer(
                    settings: settings,
                    followingTopics: [$0],
                    logger: logger
                )
                return ($0, consumer)
            }
        )
        for stage in relay.stages { try await relay.warm(stage) }
        return relay
    }

    /// Stops reading.
    func close() async {
        for stage in stages { await stage.consumer.close() }
    }

    /// Passes one message through all topics.
    ///
    /// - Returns: The time of each hop, from the call that produces the message to the poll that
    ///   returns it.
    func run() async throws -> [Duration] {
        var times: [Duration] = []
        for stage in stages {
            // This pause is not counted. A message meets a consumer's fetch at a random point of
            // its wait, as it does after the work of a service. Without the pause, each hop would
            // begin where the last one ended.
            try await Task.sleep(for: .microseconds(.random(in: 0...25_000)))
            let start = ContinuousClock.now
            async let delivery = producer.send([record(for: stage.topic)])
            guard try await received(by: stage.consumer, within: .seconds(10)) else {
                throw HarnessError("The broker did not deliver a message of \(stage.topic).")
            }
            times.append(.now - start)
            _ = try await delivery
        }
        return times
    }

    /// Waits until the consumer is at the end of its topic; messages produced before that are not
    /// for it.
    private func warm(_ stage: (topic: String, consumer: KafkaConsumer)) async throws {
        for _ in 1...10 {
            _ = try await producer.send([record(for: stage.topic)])
            guard try await received(by: stage.consumer, within: .seconds(1)) else { continue }
            // A message that was given up on may still arrive.
            while try await received(by: stage.consumer, within: .milliseconds(200)) {}
            return
        }
        throw HarnessError("A consumer of \(stage.topic) receives nothing.")
    }

    private func received(
        by consumer: KafkaConsumer,
        within limit: Duration
    ) async throws -> Bool {
        let deadline = ContinuousClock.now.advanced(by: limit)
        while ContinuousClock.now < deadline {
            let poll = try await consumer.poll(max: 1000, timeout: .milliseconds(100))
            if !poll.messages.isEmpty { return true }
        }
        return false
    }

    private func record(for topic: String) -> KafkaRecord {
        KafkaRecord(
            topic: topic,
            key: Array("buyer".utf8),
            value: Array(repeating: UInt8(ascii: "x"), count: Self.messageBytes)
        )
    }
}
