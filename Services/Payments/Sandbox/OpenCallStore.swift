import EventTypes
import Messaging
import Postgres
import StoreAPI

/// The calls that the sandbox's processor has taken and not decided yet, in its books.
struct OpenCallStore: Sendable {
    let books: SandboxStore

    private var client: PostgresClient { books.client }

    /// A charge that is not made yet.
    struct OpenCharge: Sendable {
        let id: AttemptID
        let paymentMethod: PaymentMethod
        let amount: Money
        /// Whether the buyer has to act, however long that takes.
        let waitsForBuyer: Bool
    }

    /// The decision of a buyer.
    enum BuyerDecision: Hashable, Sendable {
        case completed
        case refused
    }

    /// Records charges that are not made yet.
    ///
    /// Recorded ones stay as they are.
    ///
    /// - Parameters:
    ///   - charges: The charges.
    ///   - duration: The time after which those are made that do not wait for a buyer.
    /// - Throws: `PostgresError`.
    func open(_ charges: [OpenCharge], for duration: Duration) async throws {
        guard !charges.isEmpty else { return }
        let seconds = duration / .seconds(1)
        try await client.withConnection { connection in
            try connection.execute(
                """
                INSERT INTO sandbox_processor.open_charges
                    (idempotency_key, payment_method, amount, currency, decided_at)
                SELECT id, method, amount, currency,
                    CASE WHEN NOT waits THEN now() + make_interval(secs => \(seconds)) END
                FROM unnest(
                    \(charges.map(\.id.bytes)), \(charges.map(\.paymentMethod.rawValue)),
                    \(charges.map(\.amount.minorUnits)), \(charges.map(\.amount.currency)),
                    \(charges.map(\.waitsForBuyer)))
                    AS u (id, method, amount, currency, waits)
                ON CONFLICT (idempotency_key) DO NOTHING
                """
            )
        }
    }

    /// Records refunds that are not made yet.
    ///
    /// - Parameters:
    ///   - refunds: The refunds.
    ///   - duration: The time after which they are made.
    /// - Throws: `PostgresError`.
    func open(_ refunds: [SandboxStore.Return], for duration: Duration) async throws {
        guard !refunds.isEmpty else { return }
        let seconds = duration / .seconds(1)
        try await client.withConnection { connection in
            try connection.execute(
                """
                INSERT INTO sandbox_processor.open_refunds
                    (idempotency_key, charge_key, amount, currency, decided_at)
                SELECT u.*, now() + make_interval(secs => \(seconds)) FROM unnest(
                    \(refunds.map(\.id.bytes)), \(refunds.map(\.origin.bytes)),
                    \(refunds.map(\.amount.minorUnits)), \(refunds.map(\.amount.currency))) AS u
                ON CONFLICT (idempotency_key) DO NOTHING
                """
            )
        }
    }

    /// Makes those charges and refunds whose time has come.
    func decideWhatIsDue(_ ids: [AttemptID]) async throws {
        let refunds = try await client.withConnection { connection in
            try connection.execute(
                """
                INSERT INTO sandbox_processor.charges
                    (idempotency_key, payment_method, amount, currency)
                SELECT idempotency_key, payment_method, amount, currency
                FROM sandbox_processor.open_charges
                WHERE idempotency_key = ANY(\(ids.map(\.bytes))) AND decided_at <= now()
                ON CONFLICT (idempotency_key) DO NOTHING
                """
            )
            return try connection.query(
                """
                SELECT idempotency_key, charge_key, amount, currency
                FROM sandbox_processor.open_refunds
                WHERE idempotency_key = ANY(\(ids.map(\.bytes))) AND decided_at <= now()
                """
            ).map { row in
                let (id, charge, amount, currency) = try row.decode(
                    SIMD16<UInt8>.self,
                    SIMD16<UInt8>.self,
                    Int64.self,
                    Currency.self
                )
                return SandboxStore.Return(
                    id: AttemptID(bytes: id),
                    of: AttemptID(bytes: charge),
                    amount: Money(minorUnits: amount, currency: currency)
                )
            }
        }
        _ = try await books.refund(refunds)
    }

    /// Ends charges that wait for their buyers, unless these have decided.
    func cancel(_ ids: [AttemptID]) async throws {
        try await decide(ids, FailureReason.interrupted)
    }

    /// Carries out the decision of a buyer.
    ///
    /// - Parameters:
    ///   - id: The attempt for which the buyer acts.
    ///   - decision: The decision.
    /// - Returns: The decision that counts, which is the first; `nil` if no buyer has to act.
    /// - Throws: `PostgresError`.
    func act(_ id: AttemptID, _ decision: BuyerDecision) async throws -> BuyerDecision? {
        try await decide([id], decision == .completed ? nil : .paymentDeclined)
        return try await client.withConnection { connection in
            try connection.query(
                """
                SELECT charge.decline_reason IS NULL FROM sandbox_processor.charges charge
                JOIN sandbox_processor.open_charges waits USING (idempotency_key)
                WHERE charge.idempotency_key = \(id.bytes) AND waits.decided_at IS NULL
                """
            ).first.map { row -> BuyerDecision in
                try row.decode(Bool.self) ? .completed : .refused
            }
        }
    }

    /// Charges or declines what waits for its buyer; what is decided stays as it is.
    private func decide(_ ids: [AttemptID], _ declineReason: FailureReason?) async throws {
        try await client.withConnection { connection in
            try connection.execute(
                """
                INSERT INTO sandbox_processor.charges
                    (idempotency_key, payment_method, amount, currency, decline_reason)
                SELECT idempotency_key, payment_method, amount, currency,
                    nullif(\(declineReason?.rawValue ?? ""), '')
                FROM sandbox_processor.open_charges
                WHERE idempotency_key = ANY(\(ids.map(\.bytes))) AND decided_at IS NULL
                ON CONFLICT (idempotency_key) DO NOTHING
                """
            )
        }
    }
}
