import ClockAndIDs
import EventTypes
import Foundation
import Kafka
import Logging
import Metrics
import Postgres
import StoreTracing

/// Applies batches of events in database transactions.
///
/// If an event cannot be applied, the applier finds it, records it as a dead letter, and parks the
/// later events of its key.
struct BatchApplier: Sendable {
    let consumer: String
    let handler: any EventHandler
    let client: PostgresClient
    let spans: SpanRecorder
    let logger: Logger
    private let applied: Counter
    private let duplicates: Counter
    private let dead: Counter

    init(
        consumer: String,
        handler: any EventHandler,
        client: PostgresClient,
        spans: SpanRecorder = .off,
        logger: Logger
    ) {
        self.consumer = consumer
        self.handler = handler
        self.client = client
        self.spans = spans
        self.logger = logger
        let dimensions = [("consumer", consumer)]
        applied = Counter(label: "inbox_events_applied", dimensions: dimensions)
        duplicates = Counter(label: "inbox_events_recognised", dimensions: dimensions)
        dead = Counter(label: "inbox_events_dead_lettered", dimensions: dimensions)
    }

    /// The outcome of one database transaction.
    private struct Result: Sendable {
        var fresh: [ReceivedEvent]
        var duplicates: Int
        var parked: Int
    }

    /// The epochs that were stored together with the effects of this consumer.
    func storedEpochs() async throws -> [KafkaTopicPartition: Int32] {
        try await client.withConnection { [consumer] connection in
            try Inbox.epochs(consumer: consumer, on: connection)
        }
    }

    /// Applies a batch in one database transaction.
    ///
    /// If one event cannot be applied, each event gets a database transaction of its own.
    ///
    /// - Throws: A database error that is not caused by the events. The same batch can be applied
    ///   again; nothing is lost.
    func apply(
        _ events: [ReceivedEvent],
        malformed: [(KafkaMessage, MalformedMessage)]
    ) async throws {
        for (message, problem) in malformed {
            try await bury(message, problem)
        }
        guard !events.isEmpty else { return }
        let trace = BatchTrace(of: events, for: spans)
        let events = trace.events
        do {
            try await settle(applyTogether(events), trace)
        } catch let error where isPoison(error) {
            logger.warning(
                "A batch holds an event that cannot be applied; applying one by one",
                metadata: ["events": "\(events.count)", "error": "\(error)"]
            )
            for event in events {
                try await applyAlone(event, trace)
            }
        }
    }

    /// Applies the dead and parked events of one key for which a redrive was requested.
    func redrive() async throws {
        let outcome = try await client.withConnection { [consumer] connection in
            try DeadLetters.redriveIsRequested(consumer: consumer, on: connection)
        }
        guard outcome else { return }
        var key = ""
        do {
            let events = try await client.withTransaction { [consumer, handler] connection in
                let events = try DeadLetters.nextRedrive(consumer: consumer, on: connection)
                try UnknownVersion.refuse(in: events, known: handler.eventTypes)
                let known = events.filter { handler.eventTypes.contains($0.type) }
                let fresh = try Inbox.insert(known.map(\.id), consumer: consumer, on: connection)
                try handler.apply(known.filter { fresh.contains($0.id) }, on: connection)
                try DeadLetters.settle(events.map(\.id), consumer: consumer, on: connection)
                return events
            }
            key = events.first?.key ?? ""
            logger.info(
                "Dead letters were applied after all",
                metadata: ["key": "\(key)", "events": "\(events.count)"]
            )
            await handler.didCommit(events)
        } catch let error where isPoison(error) {
            let reason = Self.reason(of: error)
            try await client.withTransaction { [consumer] connection in
                guard
                    let key = try DeadLetters.nextRedrive(consumer: consumer, on: connection)
                        .first?.key
                else { return }
                try DeadLetters.refuseRedrive(
                    key: key,
                    reason: reason,
                    consumer: consumer,
                    on: connection
                )
            }
            logger.warning("Dead letters failed again", metadata: ["error": "\(error)"])
        }
    }

    private func applyTogether(_ events: [ReceivedEvent]) async throws -> Result {
        try await client.withTransaction { [consumer, handler] connection in
            try Self.apply(events, consumer: consumer, handler: handler, on: connection)
        }
    }

    private func applyAlone(_ event: ReceivedEvent, _ trace: BatchTrace) async throws {
        do {
            try await settle(applyTogether([event]), trace)
        } catch let error where isPoison(error) {
            let reason = Self.reason(of: error)
            try await client.withTransaction { [consumer] connection in
                try DeadLetters.record(
                    event,
                    state: .dead,
                    reason: reason,
                    consumer: consumer,
                    on: connection
                )
            }
            dead.increment()
            trace.end([event], isError: true)
            logger.error(
                "An event cannot be applied; it and later ones of its key wait for a redrive",
                metadata: [
                    "event.id": "\(event.id)", "event.type": "\(event.type)",
                    "event.subject": "\(event.subject)", "kafka.topic": "\(event.topic)",
                    "kafka.partition": "\(event.partition)", "kafka.offset": "\(event.offset)",
                    "trace": "\(event.trace)", "error": "\(error)",
                ]
            )
        }
    }

    private static func apply(
        _ events: [ReceivedEvent],
        consumer: String,
        handler: any EventHandler,
        on connection: isolated PostgresConnection
    ) throws -> Result {
        try UnknownVersion.refuse(in: events, known: handler.eventTypes)
        let known = events.filter { handler.eventTypes.contains($0.type) }
        var result = Result(fresh: [], duplicates: 0, parked: 0)
        if !known.isEmpty {
            let blocked = try DeadLetters.blocked(
                Set(known.map(\.key)),
                consumer: consumer,
                on: connection
            )
            for event in known where blocked.contains(event.key) {
                try DeadLetters.record(
                    event,
                    state: .parked,
                    reason: "waits behind a dead letter of the same key",
                    consumer: consumer,
                    on: connection
                )
                result.parked += 1
            }
            let open = blocked.isEmpty ? known : known.filter { !blocked.contains($0.key) }
            var owed = try Inbox.insert(open.map(\.id), consumer: consumer, on: connection)
            // An event that occurs twice in a batch is applied once.
            result.fresh = open.filter { owed.remove($0.id) != nil }
            result.duplicates = open.count - result.fresh.count
            if !result.fresh.isEmpty {
                try handler.apply(result.fresh, on: connection)
            }
        }
        var newest: [KafkaTopicPartition: ReceivedEvent] = [:]
        for event in events where !event.isReplayed {
            newest[KafkaTopicPartition(topic: event.topic, partition: event.partition)] = event
        }
        try Inbox.savePositions(newest, consumer: consumer, on: connection)
        return result
    }

    private func settle(_ result: Result, _ trace: BatchTrace) async {
        trace.end(result.fresh)
        applied.increment(by: result.fresh.count)
        recordHops(of: result.fresh)
        if result.duplicates > 0 { duplicates.increment(by: result.duplicates) }
        if result.parked > 0 {
            logger.warning("Events were parked", metadata: ["events": "\(result.parked)"])
        }
        if !result.fresh.isEmpty { await handler.didCommit(result.fresh) }
    }

    /// Records the time from each event to its application here, which spans the clocks of two
    /// machines.
    ///
    /// Replayed events are left out.
    private func recordHops(of events: [ReceivedEvent]) {
        let now = Timestamp.wallClock()
        var timers: [String: Metrics.Timer] = [:]
        for event in events where !event.isReplayed {
            let timer =
                timers[event.topic]
                ?? Metrics.Timer(
                    label: "event_hop",
                    dimensions: [("consumer", consumer), ("topic", event.topic)]
                )
            timers[event.topic] = timer
            let age = max(now.duration(since: event.time), .zero)
            timer.recordNanoseconds(Int64(age / .nanoseconds(1)))
        }
    }

    /// Records a malformed message as a dead letter.
    ///
    /// Such a message has no event id, so its id is derived from its topic, partition and offset.
    private func bury(_ message: KafkaMessage, _ problem: MalformedMessage) async throws {
        let place = "\(message.topic)/\(message.partition)/\(message.offset)"
        var seed = PlaceHash(place)
        let time = Timestamp(millisecondsSinceEpoch: max(message.timestampMilliseconds, 0))
        let event = ReceivedEvent(
            id: EventID(time: time, using: &seed),
            type: EventType(rawValue: "malformed"),
            topic: message.topic,
            key: message.key.map {
                String(decoding: $0, as: UTF8.self).replacing("\0", with: "\u{FFFD}")
            } ?? "",
            subject: place,
            time: time,
            data: message.value ?? [],
            partition: message.partition,
            offset: message.offset
        )
        try await client.withTransaction { [consumer] connection in
            try DeadLetters.record(
                event,
                state: .dead,
                reason: problem.reason,
                consumer: consumer,
                on: connection
            )
        }
        dead.increment()
        logger.error(
            "A message is not an event; it and later ones of its key wait for a redrive",
            metadata: ["kafka.place": "\(place)", "error": "\(problem.reason)"]
        )
    }

    /// Whether an error means that an event itself cannot be applied.
    ///
    /// A database that is unreachable, busy or badly configured says nothing about the event. These
    /// errors do: SQLSTATE classes 22 (data) and 23 (constraints), and P0001 (raised by a trigger).
    private func isPoison(_ error: any Error) -> Bool {
        guard !(error is CancellationError) else { return false }
        if let error = error as? any RetriableHandlerError, error.isRetriable { return false }
        guard let error = error as? PostgresError else { return !(error is KafkaError) }
        guard !error.isRetriable else { return false }
        guard let state = error.sqlState else { return error.code == .decoding }
        return state.hasPrefix("22") || state.hasPrefix("23") || state == "P0001"
    }

    /// A description of an error that names the field but contains none of its values.
    private static func reason(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        let context: DecodingError.Context? =
            switch error {
            case .dataCorrupted(let context): context
            case .keyNotFound(_, let context): context
            case .typeMismatch(_, let context): context
            case .valueNotFound(_, let context): context
            @unknown default: nil
            }
        let path = context?.codingPath.map(\.stringValue).joined(separator: ".") ?? ""
        return "the data cannot be read at '\(path)': \(context?.debugDescription ?? "unknown")"
    }
}

/// The bits of an id that is the hash (FNV-1a) of a place in a log, so every attempt gives the same
/// id.
private struct PlaceHash: RandomNumberGenerator {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    init(_ place: String) {
        for byte in place.utf8 { mix(byte) }
    }

    mutating func next() -> UInt64 {
        mix(0)
        return state
    }

    private mutating func mix(_ byte: UInt8) {
        state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
}
