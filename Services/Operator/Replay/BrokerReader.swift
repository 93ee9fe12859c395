import EventTypes
import Kafka
import Logging
import Messaging
import Seals

/// Reads what the broker still has of the services' topics, up to where it ended at the beginning.
///
/// Where a topic ends is not asked of the broker, which may say too low an offset: the producer's relay
/// has kept the newest that the broker has confirmed. What comes later is not read.
struct BrokerReader: Sendable {
    let settings: KafkaSettings
    let databases: @Sendable (String) -> DatabaseAddress
    let archives: ReplayArchives
    /// How long nothing may come before what has not come is said to be missing.
    var patience = Duration.seconds(10)

    private static let quiet = Logger(label: "counterfoil") { _ in SwiftLogNoOpLogHandler() }

    /// Reads the selected events, each once, in the order of each partition.
    ///
    /// - Parameters:
    ///   - selection: What is selected.
    ///   - range: Which part of the topics is read.
    ///   - body: Gets events with the services that published them.
    /// - Returns: What the broker has, and has not.
    /// - Throws: ``OperatorError``; what the body throws.
    func read(
        _ selection: ReplaySelection,
        _ range: BrokerRange,
        _ body: ([(service: String, row: OutboxRow)]) throws -> Void
    ) async throws -> BrokerReport {
        do {
            var parts: [KafkaTopicPartition: BrokerPartition] = [:]
            var published: [String: OutboxCursor] = [:]
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

    /// What there is to read of a service's topics.
    private func partitions(
        of service: String,
        _ ends: [KafkaTopicPartition: Int64],
        _ selection: ReplaySelection,
        _ range: BrokerRange
    ) async throws -> [KafkaTopicPartition: BrokerPartition] {
        let admin = try KafkaAdmin(settings: settings, logger: Self.quiet)
        var parts: [KafkaTopicPartition: BrokerPartition] = [:]
        let topics = Set(selection.selectedTopics.filter { $0.producer == service }.map(\.name))
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

    /// Where each partition is read from: an offset, or the first message of a time.
    private func starts(
        of parts: [KafkaTopicPartition: BrokerPartition],
        _ selection: ReplaySelection,
        _ range: BrokerRange
    ) async throws -> [KafkaTopicPartition: Int64] {
        var starts = parts.mapValues { max($0.first, range.from ?? $0.first) }
        guard range.from == nil, let since = selection.since else { return starts }
        let admin = try KafkaAdmin(settings: settings, logger: Self.quiet)
        do {
            // A message is never older than its event, so none is passed over.
            let found = try await admin.offsets(
                for: starts.mapValues { _ in since.millisecondsSinceEpoch }
            )
            for (partition, offset) in found {
                // There is none of that time: nothing is left to read.
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
                    // An offset may be no message's: a compacted topic has gaps.
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

    /// The event in a message; `nil`, with a note, if it is none.
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

    /// What the log has of what was published into the selected topics and the broker has not.
    private func missing(
        of service: String,
        _ published: [String: OutboxCursor],
        _ selection: ReplaySelection,
        _ seen: Set<EventID>
    ) async throws -> BrokerReport.Missing? {
        var count = 0
        var first: OutboxCursor?
        var last: OutboxCursor?
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
                first = first ?? row.cursor
                last = row.cursor
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
