import EventTypes
import Logging
import Messaging
import Postgres
import StoreAPI

/// The sandbox processor's books, in separate tables and over separate connections.
///
/// Every call is one statement for any number of charges.
struct SandboxStore: Sendable {
    let client: PostgresClient

    /// The calls that are not decided yet.
    var openCalls: OpenCallStore { OpenCallStore(books: self) }

    /// A charge in the sandbox's books.
    struct Charge: Sendable {
        let id: AttemptID
        let paymentMethod: PaymentMethod
        let amount: Money
        var declineReason: FailureReason?
    }

    /// Money that goes back: a refund of a charge, or a reversal of a refund.
    struct Return: Sendable {
        let id: AttemptID
        /// The charge that is refunded, or the refund that is reversed.
        let origin: AttemptID
        let amount: Money

        init(id: AttemptID, of origin: AttemptID, amount: Money) {
            self.id = id
            self.origin = origin
            self.amount = amount
        }
    }

    /// Records charges and declines.
    ///
    /// Recorded charges stay as they are.
    func record(_ charges: [Charge]) async throws {
        guard !charges.isEmpty else { return }
        try await client.withConnection { connection in
            _ = try connection.execute(
                """
                INSERT INTO sandbox_processor.charges
                    (idempotency_key, payment_method, amount, currency, decline_reason)
                SELECT * FROM unnest(
                    \(charges.map(\.id.bytes)), \(charges.map(\.paymentMethod.rawValue)),
                    \(charges.map(\.amount.minorUnits)), \(charges.map(\.amount.currency)),
                    \(padded: charges.map { $0.declineReason?.rawValue }))
                ON CONFLICT (idempotency_key) DO NOTHING
                """
            )
        }
    }

    /// Counts calls.
    ///
    /// - Returns: The number of calls of each attempt, this one included.
    func countCalls(_ ids: [AttemptID]) async throws -> [AttemptID: Int] {
        try await client.withConnection { connection in
            let rows = try connection.query(
                """
                INSERT INTO sandbox_processor.calls AS c (idempotency_key, call_count)
                SELECT id, 1 FROM unnest(\(ids.map(\.bytes))) AS u (id)
                ON CONFLICT (idempotency_key) DO UPDATE SET call_count = c.call_count + 1
                RETURNING idempotency_key, call_count
                """
            )
            var counts: [AttemptID: Int] = [:]
            for row in rows {
                let (id, count) = try row.decode(SIMD16<UInt8>.self, Int32.self)
                counts[AttemptID(bytes: id)] = Int(count)
            }
            return counts
        }
    }

    /// The payment methods of charges.
    func methods(of ids: [AttemptID]) async throws -> [AttemptID: SandboxPaymentMethod] {
        guard !ids.isEmpty else { return [:] }
        return try await client.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT idempotency_key, payment_method FROM sandbox_processor.charges
                WHERE idempotency_key = ANY(\(ids.map(\.bytes)))
                """
            )
            var methods: [AttemptID: SandboxPaymentMethod] = [:]
            for row in rows {
                let (id, method) = try row.decode(SIMD16<UInt8>.self, String.self)
                methods[AttemptID(bytes: id)] = SandboxPaymentMethod(
                    PaymentMethod(rawValue: method)
                )
            }
            return methods
        }
    }

    /// The recorded outcomes of attempts; those that were never recorded are absent.
    func find(_ ids: [AttemptID]) async throws -> [AttemptID: InquiryOutcome] {
        try await client.withConnection { connection in
            let keys = ids.map(\.bytes)
            // What is decided comes last, and so replaces what was open before.
            let rows = try connection.query(
                """
                SELECT idempotency_key,
                    CASE WHEN decided_at IS NULL THEN 'action' ELSE 'open' END,
                    amount, currency, NULL
                FROM sandbox_processor.open_charges WHERE idempotency_key = ANY(\(keys))
                UNION ALL
                SELECT idempotency_key, 'open', amount, currency, NULL
                FROM sandbox_processor.open_refunds WHERE idempotency_key = ANY(\(keys))
                UNION ALL
                SELECT idempotency_key, 'charge', amount, currency, decline_reason
                FROM sandbox_processor.charges WHERE idempotency_key = ANY(\(keys))
                UNION ALL
                SELECT idempotency_key, 'refund', amount, currency, NULL
                FROM sandbox_processor.refunds WHERE idempotency_key = ANY(\(keys))
                UNION ALL
                SELECT idempotency_key, 'reversal', amount, currency, NULL
                FROM sandbox_processor.reversals WHERE idempotency_key = ANY(\(keys))
                """
            )
            var found: [AttemptID: InquiryOutcome] = [:]
            for row in rows {
                let (bytes, kind, amount, currency, reason) = try row.decode(
                    SIMD16<UInt8>.self,
                    String.self,
                    Int64.self,
                    Currency.self,
                    String?.self
                )
                let id = AttemptID(bytes: bytes)
                let reference = SandboxProcessor.reference(of: id)
                let isDecided = kind != "open" && kind != "action"
                guard isDecided || found[id] == nil else { continue }
                found[id] =
                    switch kind {
                    case "action":
                        .needsAction(SandboxProcessor.action(of: id), reference: reference)
                    case "open": .pending(reference: reference)
                    case "refund": .refunded(reference: reference)
                    case "reversal": .reversed(reference: reference)
                    default:
                        if let reason {
                            .declined(FailureReason(rawValue: reason), advice: nil)
                        } else {
                            .charged(
                                reference: reference,
                                amount: Money(minorUnits: amount, currency: currency)
                            )
                        }
                    }
            }
            return found
        }
    }

    /// Refunds charges, each refund once.
    ///
    /// The refunds of a charge that are not reversed, with what a bank has taken back, never exceed
    /// it. A lock for each charge keeps two calls from spending the same rest.
    ///
    /// - Returns: The recorded refunds, of this call or an earlier one.
    func refund(_ refunds: [Return]) async throws -> Set<AttemptID> {
        guard !refunds.isEmpty else { return [] }
        return try await client.withTransaction { connection in
            try Self.lock(refunds.map(\.origin), on: connection)
            try connection.execute(
                """
                WITH asked AS (
                    SELECT u.id, u.charge, u.amount, u.currency,
                        sum(u.amount) OVER (PARTITION BY u.charge ORDER BY u.ordinal) AS so_far
                    FROM unnest(
                        \(refunds.map(\.id.bytes)), \(refunds.map(\.origin.bytes)),
                        \(refunds.map(\.amount.minorUnits)), \(refunds.map(\.amount.currency)))
                        WITH ORDINALITY AS u (id, charge, amount, currency, ordinal)
                    WHERE NOT EXISTS (
                        SELECT FROM sandbox_processor.refunds r WHERE r.idempotency_key = u.id)
                )
                INSERT INTO sandbox_processor.refunds
                    (idempotency_key, charge_key, amount, currency)
                SELECT asked.id, asked.charge, asked.amount, asked.currency
                FROM asked JOIN sandbox_processor.charges c
                    ON c.idempotency_key = asked.charge AND c.decline_reason IS NULL
                        AND c.currency = asked.currency
                WHERE asked.so_far + (
                    SELECT coalesce(sum(r.amount), 0) FROM sandbox_processor.refunds r
                    WHERE r.charge_key = asked.charge AND NOT EXISTS (
                        SELECT FROM sandbox_processor.reversals v
                        WHERE v.refund_key = r.idempotency_key)
                ) + (
                    SELECT coalesce(sum(d.amount), 0) FROM sandbox_processor.disputes d
                    WHERE d.charge_key = asked.charge AND d.withdrawn_at IS NOT NULL
                        AND d.reinstated_at IS NULL
                ) <= c.amount
                ON CONFLICT DO NOTHING
                """
            )
            let rows = try connection.query(
                """
                SELECT idempotency_key FROM sandbox_processor.refunds
                WHERE idempotency_key = ANY(\(refunds.map(\.id.bytes)))
                """
            )
            return Set(try rows.map { AttemptID(bytes: try $0.decode(SIMD16<UInt8>.self)) })
        }
    }

    /// Returns those of some charges that a bank has taken back by a dispute, and not given back.
    func disputed(among charges: [AttemptID]) async throws -> Set<AttemptID> {
        guard !charges.isEmpty else { return [] }
        return try await client.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT charge_key FROM sandbox_processor.disputes
                WHERE charge_key = ANY(\(charges.map(\.bytes)))
                    AND withdrawn_at IS NOT NULL AND reinstated_at IS NULL
                """
            )
            return Set(try rows.map { AttemptID(bytes: try $0.decode(SIMD16<UInt8>.self)) })
        }
    }

    /// Reverses refunds, each once.
    ///
    /// - Returns: The recorded reversals, of this call or an earlier one.
    func reverse(_ reversals: [Return]) async throws -> Set<AttemptID> {
        guard !reversals.isEmpty else { return [] }
        return try await client.withTransaction { connection in
            try connection.execute(
                """
                INSERT INTO sandbox_processor.reversals
                    (idempotency_key, refund_key, amount, currency)
                SELECT u.* FROM unnest(
                    \(reversals.map(\.id.bytes)), \(reversals.map(\.origin.bytes)),
                    \(reversals.map(\.amount.minorUnits)), \(reversals.map(\.amount.currency)))
                    AS u (id, refund, amount, currency)
                JOIN sandbox_processor.refunds r
                    ON r.idempotency_key = u.refund AND r.amount = u.amount
                        AND r.currency = u.currency
                ON CONFLICT DO NOTHING
                """
            )
            let rows = try connection.query(
                """
                SELECT idempotency_key FROM sandbox_processor.reversals
                WHERE idempotency_key = ANY(\(reversals.map(\.id.bytes)))
                """
            )
            return Set(try rows.map { AttemptID(bytes: try $0.decode(SIMD16<UInt8>.self)) })
        }
    }

    /// Locks charges against other refunds and disputes, in the order of their ids.
    ///
    /// The service's role may not update charges, so it cannot lock their rows.
    static func lock(
        _ charges: [AttemptID],
        on connection: isolated PostgresConnection
    ) throws {
        for charge in Set(charges).map(\.description).sorted() {
            try connection.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended(\(charge), 0))"
            )
        }
    }
}

extension SandboxStore {
    /// Makes a store with its own client, which has to be run.
    init(url: String, logger: Logger) {
        client = PostgresClient(
            settings: PostgresSettings(
                url: url,
                applicationName: "sandbox-processor",
                poolSize: 2,
                prefersIndexes: true
            ),
            logger: logger
        )
    }
}
