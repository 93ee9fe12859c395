import EventTypes
import Kafka
import Logging
import Messaging
import OperatorCore
import Seals

/// Reads the events that the broker still has, up to the topics' ends at the start of the reading.
///
/// The broker is not asked where a topic ends, because it may report too low an offset. Instead,
/// the producer's relay keeps the newest offset that the broker has confirmed.
struct BrokerReader: Sendable {
    let settings: KafkaSettings
    let databases: @Sendable (String) -> DatabaseAddress
    let archives: ReplayArchives
    /// The time without a message after which the remaining messages count as missing.
    var patience = Duration.seconds(10)

    private static let quiet = Logger(label: "counterfoil") { _ in SwiftLogNoOpLogHandler() }

    /// Reads the selected events, each once, in the order of each partition.
    ///
    /// - Parameters:
    ///   - selection: The selection of events.
    ///   - range: The part of the topics that is read.
    ///   - body: Receives events with the services that published them.
    /// - Returns: The events that the broker has, and those that it lacks.
    /// - Throws: ``OperatorError``; what the body throws.
    func read(
        _ selection: ReplaySelection,
        _ range: BrokerRange,
        _ body: ([(service: String, row: OutboxRow)]) throws -> Void
    ) async throws -> BrokerReport {
        do {
            var parts: [KafkaTopicPartition: BrokerPartition] = [:]
            var published: [String: LogPlace] = [:]
            for service in selection.services {
                let (offsets, place) = try await DatabaseReader.read(databases(service)) {
                    try PublishedEvent.ends(on: $0)
                }
                published[service] = place
                parts.merge(try await partitions(of: service, offsets, selection, range)) { $1 }
            }
            guard !parts.isEmpty else {
                throw OperatorError(.failed, "Nothing was ever published to the selected topics.")
            }
            let starts = try await starts(of: parts, selection, range)
            var found = BrokerReport()
            let seen = try await follow(&parts, from: starts, selection, range, &found, body)
            found.partitions = parts.values.sorted {
                ($0.topic, $0.partition) < ($1.topic, $1.partition)
            }
            if range == BrokerRange() {
                for service in selection.services {
                    let missing = try await missing(of: service, published, selection, seen)
                    if let missing { found.missing.append(missing) }
                }
            }
            return found
        } catch let error as KafkaError {
            throw OperatorError(
                error.code == .configuration ? .usage : .unavailable,
                """
                The broker cannot be read: \(error). Set KAFKA_BOOTSTRAP_SERVERS if it is elsewhere, \
                KAFKA_PROPERTIES if it requires TLS or a login.
                """
            )
        }
    }

    /// The partitions to read of a service's topics.
    private func partitions(
        of service: String,
        _ ends: [KafkaTopicPartition: Int64],
        _ selection: ReplaySelection,
        _ range: BrokerRange
    ) async throws -> [KafkaTopicPartition: BrokerPartition] {
        let admin = try KafkaAdmin(settings: settings, logger: Self.quiet)
        var parts: [KafkaTopicPartition: BrokerPartition] = [:]
        let topics = Set(
            selection.selectedTopics.filter { $0.producer.rawValue == service }.map(\.name)
        )
        do {
            for (partition, end) in ends
            where topics.contains(partition.topic)
                && (range.partition ?? partition.partition) == partition.partition
            {
                let (low, _) = try await admin.watermarks(of: partition)
                parts[partition] = BrokerPartition(
                    topic: partition.topic,
                    partition: partition.partition,
                    first: low,
                    last: end
                )
            }
        } catch {
            await admin.close()
            throw error
        }
        await admin.close()
        return parts
    }

    /// The offset from which each partition is read: the one given, or that of the first message of
    /// a time.
    private func starts(
        of parts: [KafkaTopicPartition: BrokerPartition],
        _ selection: ReplaySelection,
        _ range: BrokerRange
    ) async throws -> [KafkaTopicPartition: Int64] {
        var starts = parts.mapValues { max($0.first, range.from ?? $0.first) }
        guard range.from == nil, let since = selection.since else { return starts }
        let admin = try KafkaAdmin(settings: settings, logger: Self.quiet)
        do {
            // A message is never older than its event, so no event is missed.
            let found = try await admin.offsets(
                for: starts.mapValues { _ in since.millisecondsSinceEpoch }
            )
            for (partition, offset) in found {
                // There is no message of that time or later: nothing is left to read.
                starts[partition] = offset >= 0 ? offset : (parts[partition]?.last ?? 0) + 1
            }
        } catch {
            await admin.close()
            throw error
        }
        await admin.close()
        return starts
    }

    private func follow(
        _ parts: inout [KafkaTopicPartition: BrokerPartition],
        from starts: [KafkaTopicPartition: Int64],
        _ selection: ReplaySelection,
        _ range: BrokerRange,
        _ found: inout BrokerReport,
        _ body: ([(service: String, row: OutboxRow)]) throws -> Void
    ) async throws -> Set<EventID> {
        var seen: Set<EventID> = []
        func end(_ part: BrokerPartition) -> Int64 { min(part.last, range.to ?? part.last) }
        for (partition, part) in parts where starts[partition, default: 0] > end(part) {
            parts[partition]?.isWhole = true
        }
        let open = starts.filter { parts[$0.key]?.isWhole == false }
        guard !open.isEmpty else { return seen }
        let consumer = try KafkaConsumer(settings: settings, reading: open, logger: Self.quiet)
        var heardAt = ContinuousClock.now
        do {
            while parts.values.contains(where: { !$0.isWhole }) {
                let poll = try await consumer.poll(max: 1000, timeout: .milliseconds(100))
                if !poll.messages.isEmpty { heardAt = .now }
                guard ContinuousClock.now - heardAt < patience else { break }
                var chosen: [(service: String, row: OutboxRow)] = []
                for message in poll.messages {
                    let partition = message.topicPartition
                    guard let part = parts[partition], !part.isWhole else { continue }
                    // Some offsets have no message: a compacted topic has gaps.
                    parts[partition]?.isWhole = message.offset >= end(part)
                    guard message.offset <= end(part),
                        let event = Self.event(in: message, &found)
                    else { continue }
                    guard !event.isReplayed, seen.insert(event.row.event.id).inserted else {
                        parts[partition]?.passed += 1
                        continue
                    }
                    parts[partition]?.events += 1
                    guard selection.contains(event.row) else { continue }
                    if let problem = ReplayOutline.problem(of: event.row.event) {
                        found.note("\(problem), at \(event.place)")
                    }
                    chosen.append((event.service, event.row))
                }
                if !chosen.isEmpty { try body(chosen) }
            }
        } catch {
            await consumer.close()
            throw error
        }
        await consumer.close()
        return seen
    }

    /// The event in a message; `nil`, with a note, if the message is not an event.
    private static func event(
        in message: KafkaMessage,
        _ found: inout BrokerReport
    ) -> PublishedEvent? {
        do {
            return try PublishedEvent(message)
        } catch {
            found.note(error.message)
            return nil
        }
    }

    /// The events that were published to the selected topics and that the log has, but the broker
    /// lacks.
    private func missing(
        of service: String,
        _ published: [String: LogPlace],
        _ selection: ReplaySelection,
        _ seen: Set<EventID>
    ) async throws -> BrokerReport.Missing? {
        var count = 0
        var first: LogPlace?
        var last: LogPlace?
        let end = published[service] ?? .start
        guard end > .start else { return nil }
        try await ReplayReader.read(
            databases(service),
            after: selection.start,
            through: selection.end.map { min($0, end) } ?? end,
            archives: archives
        ) { rows in
            for row in rows where selection.contains(row) && !seen.contains(row.event.id) {
                count += 1
                first = first ?? row.place
                last = row.place
            }
        }
        guard let first, let last else { return nil }
        return BrokerReport.Missing(
            service: service,
            events: count,
            first: first.description,
            last: last.description
        )
    }
}
