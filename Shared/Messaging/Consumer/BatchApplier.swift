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
/// The places of ``AppliedPlaces`` decide which events are applied. They are locked, read and moved in
/// the database transaction of the effect.
///
/// If an event cannot be applied, the applier finds it, records it as a dead letter, and parks the
/// later events of its key.
struct BatchApplier: Sendable {
    let consumer: String
    let handler: any EventHandler
    let client: PostgresClient
    let clock: ProcessClock
    let spans: SpanRecorder
    let logger: Logger
    private let applied: Counter
    private let duplicates: Counter
    private let dead: Counter

    init(
        consumer: String,
        handler: any EventHandler,
        client: PostgresClient,
        clock: ProcessClock? = nil,
        spans: SpanRecorder = .off,
        logger: Logger
    ) {
        self.consumer = consumer
        self.handler = handler
        self.client = client
        self.clock = clock ?? ProcessClock(client: client)
        self.spans = spans
        self.logger = logger
        let dimensions = [("consumer", consumer)]
        applied = Counter(label: "consumer_events_applied", dimensions: dimensions)
        duplicates = Counter(label: "consumer_events_recognised", dimensions: dimensions)
        dead = Counter(label: "consumer_events_dead_lettered", dimensions: dimensions)
    }

    /// The outcome of one database transaction.
    private struct Result: Sendable {
        var fresh: [ReceivedEvent]
        var duplicates: Int
        var parked: Int
        /// The first offset in each partition of an event whose predecessor is missing.
        var early: [KafkaTopicPartition: Int64]
    }

    /// The places where this consumer reads its partitions on, stored together with its effects.
    func storedPositions() async throws -> [KafkaTopicPartition: ConsumerPlaceStore.Position] {
        try await client.withConnection { [consumer] connection in
            try ConsumerPlaceStore.positions(consumer: consumer, on: connection)
        }
    }

    /// Applies a batch in one database transaction.
    ///
    /// If one event cannot be applied, each event gets a database transaction of its own.
    ///
    /// - Parameters:
    ///   - events: The events, in order within each partition.
    ///   - malformed: The messages that are no events.
    ///   - held: Where a partition must be read again, because of an event that came too early.
    /// - Returns: `held`, together with the first early event of each partition of this batch.
    /// - Throws: A database error that is not caused by the events. The same batch can be applied
    ///   again; nothing is lost.
    func apply(
        _ events: [ReceivedEvent],
        malformed: [(KafkaMessage, MalformedMessage)],
        held: [KafkaTopicPartition: Int64] = [:]
    ) async throws -> [KafkaTopicPartition: Int64] {
        for (message, problem) in malformed {
            try await bury(message, problem)
        }
        guard !events.isEmpty else { return held }
        let trace = BatchTrace(of: events, for: spans)
        let events = trace.events
        do {
            return try await settle(applyTogether(events, held), trace)
        } catch let error where isPoison(error) {
            logger.warning(
                "A batch holds an event that cannot be applied; applying one by one",
                metadata: ["events": "\(events.count)", "error": "\(error)"]
            )
            var held = held
            for event in events {
                held = try await applyAlone(event, held, trace)
            }
            return held
        }
    }

    /// Applies the dead and parked events of one key for which a redrive was requested.
    ///
    /// - Returns: Whether any event waited that could not be applied yet.
    /// - Throws: A database error; nothing has changed then.
    func redrive() async throws -> Bool {
        let waiting = try await client.withConnection { [consumer] connection in
            try DeadLetters.waiting(consumer: consumer, on: connection)
        }
        guard waiting == .redrive else { return waiting != .nothing }
        do {
            let events = try await client.withTransaction { [consumer, handler] connection in
                // Their chains have gone on. That they were not applied is what their rows say,
                // which are locked until they are settled.
                let events = try DeadLetters.nextRedrive(consumer: consumer, on: connection)
                try UnknownVersion.refuse(in: events, known: handler.eventTypes)
                try MalformedMessage.refuse(in: events)
                try handler.apply(
                    events.filter { handler.eventTypes.contains($0.type) },
                    on: connection
                )
                try DeadLetters.settle(events.map(\.id), consumer: consumer, on: connection)
                return events
            }
            // Another instance may have applied them first.
            guard let key = events.first?.key else { return true }
            logger.info(
                "Dead letters were applied after all",
                metadata: ["key": "\(key)", "events": "\(events.count)"]
            )
            await handler.didCommit(events)
        } catch let error where isPoison(error) {
            let reason = Self.reason(of: error)
            let key: String? = try await client.withTransaction { [consumer] connection in
                guard
                    let key = try DeadLetters.nextRedrive(consumer: consumer, on: connection)
                        .first?.key
                else { return nil }
                try DeadLetters.refuseRedrive(
                    key: key,
                    reason: reason,
                    consumer: consumer,
                    on: connection
                )
                return key
            }
            guard let key else { return true }
            logger.warning(
                "Dead letters failed again",
                metadata: ["key": "\(key)", "error": "\(error)"]
            )
        }
        return true
    }

    private func applyTogether(
        _ events: [ReceivedEvent],
        _ held: [KafkaTopicPartition: Int64]
    ) async throws -> Result {
        try await client.withTransaction { [consumer, handler] connection in
            try UnknownVersion.refuse(in: events, known: handler.eventTypes)
            let judged = try JudgedBatch(
                events,
                held: held,
                consumer: consumer,
                keys: Set(events.filter { handler.eventTypes.contains($0.type) }.map(\.key)),
                on: connection
            )
            let known = judged.due.filter { handler.eventTypes.contains($0.type) }
            var result = Result(
                fresh: known,
                duplicates: judged.duplicates,
                parked: 0,
                early: judged.early
            )
            if !known.isEmpty {
                let blocked = judged.blocked
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
                if !blocked.isEmpty { result.fresh.removeAll { blocked.contains($0.key) } }
                if !result.fresh.isEmpty {
                    try handler.apply(result.fresh, on: connection)
                }
            }
            try judged.save(consumer: consumer, on: connection)
            return result
        }
    }

    private func applyAlone(
        _ event: ReceivedEvent,
        _ held: [KafkaTopicPartition: Int64],
        _ trace: BatchTrace
    ) async throws -> [KafkaTopicPartition: Int64] {
        do {
            return try await settle(applyTogether([event], held), trace)
        } catch let error where isPoison(error) {
            let reason = Self.reason(of: error)
            let judged = try await client.withTransaction { [consumer] connection in
                let judged = try JudgedBatch(
                    [event],
                    held: held,
                    consumer: consumer,
                    on: connection
                )
                if !judged.due.isEmpty {
                    try DeadLetters.record(
                        event,
                        state: .dead,
                        reason: reason,
                        consumer: consumer,
                        on: connection
                    )
                }
                try judged.save(consumer: consumer, on: connection)
                return judged
            }
            guard !judged.due.isEmpty else { return judged.early }
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
            return judged.early
        }
    }

    private func settle(
        _ result: Result,
        _ trace: BatchTrace
    ) async -> [KafkaTopicPartition: Int64] {
        trace.end(result.fresh)
        applied.increment(by: result.fresh.count)
        recordHops(of: result.fresh)
        if result.duplicates > 0 { duplicates.increment(by: result.duplicates) }
        if result.parked > 0 {
            logger.warning("Events were parked", metadata: ["events": "\(result.parked)"])
        }
        if !result.fresh.isEmpty { await handler.didCommit(result.fresh) }
        return result.early
    }

    /// Records the time from each event to its application here, which spans the clocks of two
    /// databases.
    ///
    /// Replayed events are left out.
    private func recordHops(of events: [ReceivedEvent]) {
        let now = clock.now
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
        let time = StoreTime(millisecondsSinceEpoch: max(message.timestampMilliseconds, 0))
        let event = ReceivedEvent(
            id: EventID(time: time, using: &seed),
            type: MalformedMessage.type,
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
