import EventTypes
import Kafka
import Logging
import StoreHarness

/// The broker's own latency as a purchase meets it: a message that is handed on from topic to topic
/// with no work done in between.
///
/// Client library, settings and partitions are the services'; the topics are this measurement's
/// alone, one for each hop, each with a consumer that reads all the time, as those of the services
/// do.
struct BrokerRelay: Sendable {
    /// What a purchase crosses, one after the other, between the answer to its payment and its
    /// observer, and who reads it there.
    static let hops = [
        (topic: Topics.paymentsTransactions, reader: "receipts, which signs it"),
        (topic: Topics.receiptsIssued, reader: "fulfillment, which puts it into the queue"),
        (topic: Topics.fulfillmentTransactions, reader: "fulfillment, which tells its clients"),
    ]

    /// About as large as an event.
    static let messageBytes = 1000

    private let producer: KafkaProducer
    private let stages: [(topic: String, consumer: KafkaConsumer)]

    /// Makes the topics and begins to read them.
    ///
    /// - Throws: ``HarnessError`` if a consumer gets nothing.
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

    /// Hands one message through all topics.
    ///
    /// - Returns: How long each hop took, from the call that produces it to the poll that brings it.
    func run() async throws -> [Duration] {
        var times: [Duration] = []
        for stage in stages {
            // Not counted: where in its wait a consumer's fetch is when a message comes is chance, as
            // it is after the work of a service. Without it each hop would begin where the last ended.
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

    /// Waits until the consumer stands at the end of its topic: what is produced before is not for it.
    private func warm(_ stage: (topic: String, consumer: KafkaConsumer)) async throws {
        for _ in 1...10 {
            _ = try await producer.send([record(for: stage.topic)])
            guard try await received(by: stage.consumer, within: .seconds(1)) else { continue }
            // One that was given up on may still come.
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
