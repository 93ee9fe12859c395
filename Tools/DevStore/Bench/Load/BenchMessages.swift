import EventTypes
import Foundation
import Kafka
import Logging
import StoreHarness

/// The times at which relays handed events over to be sent, as their messages say.
///
/// The services' library stamps a message when it is queued, before it is sent to the broker.
struct BenchMessages: Sendable {
    /// The longest time for which messages are read.
    private static let limit = Duration.seconds(60)
    /// The time without messages after which all have been read.
    private static let patience = Duration.seconds(2)

    /// In milliseconds since 1970, by type of event and by transaction.
    private var times: [EventType: [Int: Int64]] = [:]

    /// Makes the times of no message.
    init() {}

    /// Reads the messages of some topics.
    ///
    /// - Parameters:
    ///   - topics: The topics.
    ///   - store: The store.
    ///   - start: Messages from before this moment are left out.
    /// - Throws: `KafkaError`.
    init(of topics: [Topic], in store: StoreHarness, since start: Date) async throws {
        let settings = store.kafkaSettings(clientID: "bench-messages")
        let logger = Logger(label: "bench-messages") { _ in SwiftLogNoOpLogHandler() }
        // A broker may find the beginning by whole batches.
        let first = Int64(start.timeIntervalSince1970 * 1000) - 1000
        let last = Int64(Date().timeIntervalSince1970 * 1000)
        var starts: [KafkaTopicPartition: Int64] = [:]
        for topic in topics {
            for number in 0..<Int32(topic.fixedPartitions ?? store.options.partitions) {
                starts[KafkaTopicPartition(topic: topic.name, partition: number)] = first
            }
        }
        let admin = try KafkaAdmin(settings: settings, logger: logger)
        let offsets = try await admin.offsets(for: starts).filter { $0.value >= 0 }
        await admin.close()
        guard !offsets.isEmpty else { return }
        let consumer = try KafkaConsumer(settings: settings, reading: offsets, logger: logger)
        let begun = ContinuousClock.now
        var newsAt = begun
        while begun.duration(to: .now) < Self.limit, newsAt.duration(to: .now) < Self.patience {
            let poll = try await consumer.poll(max: 1000, timeout: .milliseconds(200))
            // Renewals may go on and send more.
            let messages = poll.messages.filter { $0.timestampMilliseconds <= last }
            if !messages.isEmpty { newsAt = .now }
            for message in messages { note(message) }
        }
        await consumer.close()
    }

    /// The time of the first message of an event, in microseconds since 1970; `nil` if there is none.
    func time(of type: EventType, about transaction: Int) -> Int64? {
        times[type]?[transaction].map { $0 * 1000 }
    }

    private mutating func note(_ message: KafkaMessage) {
        let headers = message.headers
        func text(_ name: String) -> String? {
            headers.first { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) }
        }
        guard let type = text("ce_type"), let subject = text("ce_subject").flatMap({ Int($0) }),
            message.timestampMilliseconds > 0
        else { return }
        let time = message.timestampMilliseconds
        let known = times[EventType(rawValue: type), default: [:]][subject]
        times[EventType(rawValue: type), default: [:]][subject] = min(known ?? time, time)
    }
}
