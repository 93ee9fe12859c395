import EventTypes
import Foundation
import NIOCore
import Postgres
import StoreHarness

/// The times at which the services committed the steps of purchases, on the clock of the load.
///
/// PostgreSQL records the time of each commit (`track_commit_timestamp`). From the commit of a purchase on,
/// `payments` answers that the transaction is purchased. The buyer's stream reports it once it is delivered.
/// A relay commits its place, with a seal, as soon as the broker has the events.
struct BenchBooks: Sendable {
    /// The times of an event, in nanoseconds of the monotonic clock.
    private struct Event {
        /// The time at which it was committed.
        let committed: UInt64
        /// The time at which its relay noted that the broker has it; 0 if it has not.
        let published: UInt64
        /// The time that it is dated with, when its database transaction began; 0 if the store's clock was
        /// set.
        let begun: UInt64
    }

    private let accepted: [Int: Event]
    private let charged: [Int: UInt64]
    private let purchased: [Int: Event]
    private let signed: [Int: Event]
    private let queued: [Int: Event]
    private let messages: BenchMessages
    private let clocks: Clocks

    /// The clocks of this machine at one moment.
    private struct Clocks {
        let uptime = Double(NIODeadline.now().uptimeNanoseconds)
        let wall = Date().timeIntervalSince1970

        /// The time on the monotonic clock of microseconds since 1970.
        func uptime(at microseconds: Int64) -> UInt64 {
            UInt64(max(uptime - (wall - Double(microseconds) / 1e6) * 1e9, 0))
        }
    }

    /// Reads the books.
    ///
    /// - Parameters:
    ///   - store: A store whose PostgreSQL records commit times and runs on this machine.
    ///   - start: Events from before this moment are left out.
    ///   - readsMessages: Whether the messages in the broker are read, too, which takes some seconds.
    /// - Throws: `PostgresError`, even if only commit times are not recorded; `KafkaError`.
    init(_ store: StoreHarness, since start: Date, readsMessages: Bool) async throws {
        let clocks = Clocks()
        self.clocks = clocks
        func events(
            _ type: EventType,
            in service: StoreService
        ) async throws -> [(id: Int, event: Event)] {
            try await Self.events(type, in: service, of: store, since: start, clocks)
        }
        // A second event of the same step is ignored, except of a queue, whose last change counts.
        func firsts(_ events: [(id: Int, event: Event)]) -> [Int: Event] {
            Dictionary(events.map { ($0.id, $0.event) }) { $0.committed <= $1.committed ? $0 : $1 }
        }
        accepted = firsts(try await events(.transactionPurchasing, in: .payments))
        charged = try await Self.charges(of: store, from: accepted.keys.min() ?? 0, clocks)
        purchased = firsts(try await events(.transactionPurchased, in: .payments))
        signed = firsts(try await events(.receiptIssued, in: .receipts))
        let changes = try await events(.queueChanged, in: .fulfillment)
        queued = Dictionary(changes.map { ($0.id, $0.event) }) {
            $0.committed >= $1.committed ? $0 : $1
        }
        if readsMessages {
            let topics = [Topics.paymentsTransactions, Topics.receiptsIssued]
            messages = try await BenchMessages(of: topics, in: store, since: start)
        } else {
            messages = BenchMessages()
        }
    }

    /// Adds what the books say about a transaction to the times that the load has noted.
    ///
    /// - Returns: The times; `nil` if the transaction was not purchased.
    func completed(_ times: BenchDriver.Times, of id: Int) -> BenchDriver.Times? {
        guard let purchase = purchased[id] else { return nil }
        var times = times
        times.accepted = accepted[id]?.committed ?? 0
        times.charged = charged[id] ?? 0
        times.purchased = purchase.committed
        times.sent = sent(.transactionPurchased, about: id)
        times.published = purchase.published
        times.atReceipts = signed[id]?.begun ?? 0
        times.signed = signed[id]?.committed ?? 0
        times.receiptSent = sent(.receiptIssued, about: id)
        times.receiptPublished = signed[id]?.published ?? 0
        times.atFulfillment = queued[id]?.begun ?? 0
        times.queued = queued[id]?.committed ?? 0
        return times
    }

    private func sent(_ type: EventType, about id: Int) -> UInt64 {
        messages.time(of: type, about: id).map(clocks.uptime(at:)) ?? 0
    }

    /// Reads the commits of a type of events, and of the first seal that covers each.
    private static func events(
        _ type: EventType,
        in service: StoreService,
        of store: StoreHarness,
        since start: Date,
        _ clocks: Clocks
    ) async throws -> [(id: Int, event: Event)] {
        let (type, start) = (type.rawValue, start.timeIntervalSince1970 - 1)
        let rows = try await store.withDatabase(of: service) { connection in
            try connection.query(
                """
                SELECT subject, committed, sealed, begun FROM (
                    SELECT subject, committed, begun, min(sealed) OVER (
                        ORDER BY xid DESC, position DESC, sealed ROWS UNBOUNDED PRECEDING
                    ) AS sealed
                    FROM (
                        SELECT xid, position, subject::bigint AS subject,
                            \(unsafe: Self.commitTime) AS committed, NULL::bigint AS sealed,
                            (extract(epoch FROM time) * 1000000)::bigint AS begun
                        FROM outbox
                        WHERE type = \(type) AND time >= to_timestamp(\(start))
                        UNION ALL
                        SELECT last_xid, last_position, NULL, NULL, \(unsafe: Self.commitTime), NULL
                        FROM log_seals WHERE log = 'outbox'
                    ) AS steps
                ) AS marked
                WHERE subject IS NOT NULL
                """
            ).map { try $0.decode(Int64.self, Int64.self, Int64?.self, Int64.self) }
        }
        return rows.map { id, committed, sealed, begun in
            // A clock that was set dates events by hours or months later.
            let isMachineTime = abs(committed - begun) < 60_000_000
            let event = Event(
                committed: clocks.uptime(at: committed),
                published: sealed.map(clocks.uptime(at:)) ?? 0,
                begun: isMachineTime ? clocks.uptime(at: begun) : 0
            )
            return (id: Int(id), event: event)
        }
    }

    /// Reads the commits of the sandbox processor's charges, by transaction.
    private static func charges(
        of store: StoreHarness,
        from first: Int,
        _ clocks: Clocks
    ) async throws -> [Int: UInt64] {
        let first = Int64(first)
        let rows = try await store.withDatabase(of: .payments) { connection in
            try connection.query(
                """
                SELECT attempt.transaction_id, charge.committed
                FROM processor_attempts AS attempt JOIN (
                    SELECT idempotency_key, \(unsafe: Self.commitTime) AS committed
                    FROM sandbox_processor.charges
                ) AS charge ON charge.idempotency_key = attempt.attempt_id
                WHERE attempt.kind = 'charge' AND attempt.transaction_id >= \(first)
                """
            ).map { try $0.decode(Int64.self, Int64.self) }
        }
        return Dictionary(
            rows.map { (Int($0), clocks.uptime(at: $1)) },
            uniquingKeysWith: min
        )
    }

    /// The time of a row's commit, in microseconds since 1970.
    private static let commitTime =
        "(extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000000)::bigint"
}
