import Foundation
import Kafka
import Logging
import TestSupport

/// A topic of a broker that one test has for itself.
struct TestTopic: Sendable {
    let name: String
    let settings: KafkaSettings

    func consumer(_ logger: Logger, group: String = "group") throws -> KafkaConsumer {
        try KafkaConsumer(settings: settings, group: group, topics: [name], logger: logger)
    }

    func send(_ numbers: Range<Int>, with producer: KafkaProducer) async throws {
        _ = try await producer.send(
            numbers.map { number in
                KafkaRecord(topic: name, key: [1], value: Array("\(number)".utf8))
            }
        )
    }
}

/// Makes a topic on a broker of its own.
func withTestTopic(
    partitions: Int,
    _ body: (TestTopic) async throws -> Void
) async throws {
    try await withTestBroker { broker in
        let settings = broker.settings()
        let admin = try KafkaAdmin(settings: settings, logger: Logger(label: "test"))
        _ = try await admin.createTopics([
            KafkaTopicDefinition(name: "topic", partitions: partitions, replicationFactor: 1)
        ])
        await admin.close()
        try await body(TestTopic(name: "topic", settings: settings))
    }
}

extension KafkaConsumer {
    /// Polls until a number of messages are in.
    nonisolated func read(_ count: Int, within limit: Duration = .seconds(120)) async throws
        -> [KafkaMessage]
    {
        var messages: [KafkaMessage] = []
        try await eventually(within: limit, "\(count) messages") {
            messages += try await poll(max: count - messages.count, timeout: .milliseconds(100))
                .messages
            return messages.count >= count ? true : nil
        }
        return messages
    }
}
