import EventTypes
import Messaging
import Postgres
import StoreAPI

/// The table of processor attempts.
///
/// Every call is one statement for any number of attempts.
enum AttemptStore {
    /// The columns that ``attempt(in:)`` reads.
    static let columns = """
        a.transaction_id, a.kind, a.number, a.attempt_id, a.step, a.payment_method, a.amount,
        a.currency, a.is_approved, a.call_count, a.undoes, a.revokes, a.idempotency_key,
        a.fingerprint, a.reference, a.outcome, a.due_at, a.approval_ends_at, a.waits_for,
        a.renewal_try, a.is_owed, a.act, a.first_called_at, a.generation, a.is_uncalled,
        a.action_ends_at, a.advice, a.failed_reference, a.callable_since, a.is_buyer_present,
        a.doubted_since
        """

    /// Writes new attempts; existing ones stay as they are.
    ///
    /// - Parameters:
    ///   - attempts: The attempts.
    ///   - owner: The process that has their leases.
    ///   - time: The time from which it may call the processor.
    ///   - connection: A connection in a database transaction.
    /// - Throws: `PostgresError`; `EncodingError`.
    static func insert(
        _ attempts: [ProcessorAttempt],
        owner: LeaseOwner,
        calledFrom time: MachineTime,
        on connection: isolated PostgresConnection
    ) throws {
        guard !attempts.isEmpty else { return }
        // Most batches have one value of each of these.
        let kinds = attempts.map(\.kind.rawValue)
        let numbers = attempts.map { Int32($0.number) }
        let steps = attempts.map(\.step.rawValue)
        let dueTimes = attempts.map(\.dueAt)
        let callTimes = attempts.map { $0.step == .calling ? time : nil }
        try connection.enqueue(
            """
            INSERT INTO processor_attempts (
                transaction_id, kind, number, attempt_id, step, payment_method, amount, currency,
                is_approved, undoes, revokes, idempotency_key, fingerprint, outcome, due_at,
                waits_for, renewal_try, is_owed, act, first_called_at, is_buyer_present,
                doubted_since, lease_owner)
            SELECT transaction_id, coalesce(kind, \(ifEqual: kinds)),
                coalesce(number, \(ifEqual: numbers)), attempt_id,
                coalesce(step, \(ifEqual: steps)), payment_method, amount, currency, is_approved,
                undoes, revokes, idempotency_key, fingerprint, outcome,
                coalesce(due_at, \(ifEqual: dueTimes)), waits_for, renewal_try, is_owed, act,
                coalesce(first_called_at, \(ifEqual: callTimes)), is_buyer_present,
                doubted_since, \(owner.id)
            FROM unnest(
                \(attempts.map(\.transactionID.number)), \(unlessEqual: kinds),
                \(unlessEqual: numbers), \(attempts.map(\.id.bytes)),
                \(unlessEqual: steps), \(attempts.map(\.paymentMethod.rawValue)),
                \(attempts.map(\.amount.minorUnits)), \(attempts.map(\.amount.currency)),
                \(attempts.map(\.isApproved)), \(padded: attempts.map(\.undoes?.rawValue)),
                \(attempts.map(\.revokes)), \(padded: attempts.map(\.requestKey?.idempotencyKey)),
                \(padded: attempts.map(\.requestKey?.fingerprint)), \(padded: attempts.map(\.end?.rawValue)),
                \(unlessEqual: dueTimes), \(padded: attempts.map { $0.waitsFor?.number }),
                \(padded: attempts.map { $0.renewalTry.map { Int32($0) } }), \(attempts.map(\.isOwed)),
                \(padded: try attempts.map { try $0.act.map { try PostgresJSON(encoding: $0) } }),
                \(unlessEqual: callTimes), \(attempts.map(\.isBuyerPresent)),
                \(padded: attempts.map(\.doubtedSince))
            ) AS u (
                transaction_id, kind, number, attempt_id, step, payment_method, amount, currency,
                is_approved, undoes, revokes, idempotency_key, fingerprint, outcome, due_at,
                waits_for, renewal_try, is_owed, act, first_called_at, is_buyer_present,
                doubted_since)
            ON CONFLICT (transaction_id, kind, number) DO NOTHING
            """
        )
    }

    /// Writes the changeable columns of locked attempts.
    static func update(
        _ attempts: [ProcessorAttempt],
        owner: LeaseOwner,
        on connection: isolated PostgresConnection
    ) throws {
        guard !attempts.isEmpty else { return }
        // Most batches have one value of each of these.
        let steps = attempts.map(\.step.rawValue)
        let callCounts = attempts.map { Int32($0.callCount) }
        let outcomes = attempts.map(\.end?.rawValue)
        let generations = attempts.map { Int32($0.generation) }
        try connection.enqueue(
            """
            UPDATE processor_attempts AS a SET
                step = coalesce(u.step, \(ifEqual: steps)), is_approved = u.is_approved,
                call_count = coalesce(u.call_count, \(ifEqual: callCounts)),
                reference = u.reference,
                outcome = coalesce(u.outcome, \(ifEqual: outcomes)), due_at = u.due_at,
                approval_ends_at = u.approval_ends_at, waits_for = u.waits_for,
                first_called_at = u.first_called_at,
                generation = coalesce(u.generation, \(ifEqual: generations)),
                is_uncalled = u.is_uncalled, action_ends_at = u.action_ends_at,
                advice = u.advice, failed_reference = u.failed_reference,
                callable_since = u.callable_since,
                lease_owner = \(owner.id)
            FROM unnest(
                \(attempts.map(\.transactionID.number)), \(attempts.map(\.kind.rawValue)),
                \(attempts.map { Int32($0.number) }), \(unlessEqual: steps),
                \(attempts.map(\.isApproved)), \(unlessEqual: callCounts),
                \(attempts.map(\.reference?.rawValue)), \(unlessEqual: outcomes),
                \(padded: attempts.map(\.dueAt)), \(padded: attempts.map(\.approvalEndsAt)),
                \(padded: attempts.map { $0.waitsFor?.number }), \(attempts.map(\.firstCalledAt)),
                \(unlessEqual: generations), \(attempts.map(\.isUncalled)),
                \(padded: attempts.map(\.actionEndsAt)), \(padded: attempts.map { $0.advice?.rawValue }),
                \(padded: attempts.map(\.failedReference?.rawValue)), \(padded: attempts.map(\.callableSince)))
                AS u (transaction_id, kind, number, step, is_approved, call_count, reference,
                    outcome, due_at, approval_ends_at, waits_for, first_called_at, generation,
                    is_uncalled, action_ends_at, advice, failed_reference, callable_since)
            WHERE a.transaction_id = u.transaction_id AND a.kind = u.kind AND a.number = u.number
            """
        )
    }

    /// The end of the oldest open wait for an approval; `nil` if nothing waits.
    static func nextApprovalEnd(
        on connection: isolated PostgresConnection
    ) throws -> StoreTime? {
        let rows = try connection.query(
            """
            SELECT min(approval_ends_at) FROM processor_attempts
            WHERE approval_ends_at IS NOT NULL
            """
        )
        guard let row = rows.first else { return nil }
        return try row.decode(StoreTime?.self)
    }

    /// The number of open waits for an approval that end at a time or before.
    static func approvalCount(
        endingBy time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> Int64 {
        let rows = try connection.query(
            "SELECT count(*) FROM processor_attempts WHERE approval_ends_at <= \(time)"
        )
        guard let row = rows.first else { throw PaymentError(.unknownRow) }
        return try row.decode(Int64.self)
    }

    /// The charge of a transaction for which its buyer has to act; `nil` if there is none.
    static func awaitingAction(
        of id: TransactionID,
        on connection: isolated PostgresConnection
    ) throws -> ProcessorAttempt? {
        try connection.query(
            """
            SELECT \(unsafe: columns) FROM processor_attempts a
            WHERE a.transaction_id = \(id.number) AND a.kind = 'charge'
                AND a.step = 'awaiting_action'
            """
        ).first.map { try attempt(in: $0) }
    }

    /// Reads an attempt of a transaction by its id; `nil` if an account at the processor cannot have made it.
    ///
    /// An account makes only attempts of the cards that are saved there. A card whose row was lost may be
    /// of any account.
    static func find(
        _ id: AttemptID,
        of transaction: TransactionID,
        at processor: ProcessorAccountName,
        on connection: isolated PostgresConnection
    ) throws -> ProcessorAttempt? {
        try connection.query(
            """
            SELECT \(unsafe: columns) FROM processor_attempts a
            WHERE a.transaction_id = \(transaction.number) AND a.attempt_id = \(id.bytes)
                AND NOT EXISTS (
                    SELECT FROM payment_methods WHERE token = a.payment_method
                        AND processor_account <> \(processor.rawValue))
            """
        ).first.map { try attempt(in: $0) }
    }

    /// Tells whether a transaction has a charge with an id that an account at the processor can have made.
    ///
    /// The log does not contain the ids of attempts. So a charge that was rebuilt from it has the
    /// id zero, and stands for any.
    ///
    /// - Returns: Whether it has.
    /// - Throws: `PostgresError`.
    static func hasCharge(
        _ id: AttemptID,
        of transaction: TransactionID,
        at processor: ProcessorAccountName,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        try !connection.query(
            """
            SELECT FROM processor_attempts a
            WHERE a.transaction_id = \(transaction.number) AND a.kind = 'charge'
                AND a.attempt_id IN (\(id.bytes), \(AttemptID(bytes: .zero).bytes))
                AND NOT EXISTS (
                    SELECT FROM payment_methods WHERE token = a.payment_method
                        AND processor_account <> \(processor.rawValue))
            """
        ).isEmpty
    }

    /// Whether the processor could not make a refund or a reversal, or it has failed later.
    static func hasFailed(
        _ key: AttemptKey,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        try !connection.query(
            """
            SELECT FROM processor_attempts
            WHERE transaction_id = \(key.transactionID.number) AND kind = \(key.kind.rawValue)
                AND number = \(Int32(key.number))
                AND (step = 'failed' OR step = 'settled' AND failed_reference = reference)
            """
        ).isEmpty
    }

    /// Reads the attempts of transactions and locks them.
    ///
    /// The transactions have to be locked already, or in the same round trip.
    static func locking(
        of ids: [TransactionID]
    ) -> PostgresReading<[AttemptKey: ProcessorAttempt]> {
        guard !ids.isEmpty else { return PostgresReading(known: [:]) }
        return PostgresReading(
            """
            SELECT \(unsafe: columns) FROM processor_attempts a
            WHERE a.transaction_id = ANY(\(ids.map(\.number)))
            ORDER BY a.transaction_id, a.kind, a.number FOR UPDATE
            """
        ) { rows in
            var attempts: [AttemptKey: ProcessorAttempt] = [:]
            attempts.reserveCapacity(rows.count)
            for row in rows {
                let attempt = try attempt(in: row)
                attempts[attempt.key] = attempt
            }
            return attempts
        }
    }

    /// The transactions that wait for the outcome of others, oldest first, by the transaction they
    /// wait for.
    ///
    /// No further transaction can begin to wait: the ownerships are locked already, or another
    /// transaction holds them by now.
    static func waiting(
        for holders: [TransactionID],
        on connection: isolated PostgresConnection
    ) throws -> [TransactionID: [TransactionID]] {
        guard !holders.isEmpty else { return [:] }
        let rows = try connection.query(
            """
            SELECT waits_for, transaction_id FROM processor_attempts
            WHERE waits_for = ANY(\(holders.map(\.number))) ORDER BY transaction_id
            """
        )
        var waiting: [TransactionID: [TransactionID]] = [:]
        for row in rows {
            let (holder, waiter) = try row.decode(Int64.self, Int64.self)
            waiting[TransactionID(number: holder), default: []].append(
                TransactionID(number: waiter)
            )
        }
        return waiting
    }

    /// The amounts that transactions were to be charged; those that were granted without a charge
    /// are absent.
    static func chargeAmounts(
        of ids: [TransactionID],
        on connection: isolated PostgresConnection
    ) throws -> [TransactionID: Money] {
        let rows = try connection.query(
            """
            SELECT transaction_id, amount, currency FROM processor_attempts
            WHERE transaction_id = ANY(\(ids.map(\.number))) AND kind = 'charge'
            """
        )
        var amounts: [TransactionID: Money] = [:]
        for row in rows {
            let (id, amount, currency) = try row.decode(Int64.self, Int64.self, Currency.self)
            amounts[TransactionID(number: id)] = Money(minorUnits: amount, currency: currency)
        }
        return amounts
    }

    /// Reads the attempt in a row of ``columns``.
    ///
    /// - Parameter row: The row.
    /// - Returns: The attempt.
    /// - Throws: `PostgresError` or `DecodingError` if a column cannot be read; ``PaymentError`` if this
    ///   version of the service does not know its value.
    static func attempt(in row: PostgresRow) throws -> ProcessorAttempt {
        var columns = try row.columns(31)
        let transactionID = try columns.next(Int64.self)
        let kind = try columns.next(String.self)
        let number = try columns.next(Int32.self)
        let id = try columns.next(SIMD16<UInt8>.self)
        let step = try columns.next(String.self)
        let method = try columns.next(String.self)
        let amount = try columns.next(Int64.self)
        let currency = try columns.next(Currency.self)
        let isApproved = try columns.next(Bool.self)
        let callCount = try columns.next(Int32.self)
        let undoes = try columns.next(String?.self)
        let revokes = try columns.next(Bool.self)
        let key = try columns.next(IdempotencyKey?.self)
        let fingerprint = try columns.next([UInt8]?.self)
        let reference = try columns.next(String?.self)
        let outcome = try columns.next(String?.self)
        let dueAt = try columns.next(MachineTime?.self)
        let approvalEndsAt = try columns.next(StoreTime?.self)
        let waitsFor = try columns.next(Int64?.self)
        let renewalTry = try columns.next(Int32?.self)
        let isOwed = try columns.next(Bool.self)
        let act = try columns.next(PostgresJSON?.self)
        let firstCalledAt = try columns.next(MachineTime?.self)
        let generation = try columns.next(Int32.self)
        let isUncalled = try columns.next(Bool.self)
        let actionEndsAt = try columns.next(MachineTime?.self)
        let advice = try columns.next(String?.self)
        let failedReference = try columns.next(String?.self)
        let callableSince = try columns.next(MachineTime?.self)
        let isBuyerPresent = try columns.next(Bool.self)
        let doubtedSince = try columns.next(MachineTime?.self)
        return ProcessorAttempt(
            transactionID: TransactionID(number: transactionID),
            kind: try known(AttemptKind(rawValue: kind)),
            number: Int(number),
            id: AttemptID(bytes: id),
            step: try known(AttemptStep(rawValue: step)),
            paymentMethod: PaymentMethod(rawValue: method),
            amount: Money(minorUnits: amount, currency: currency),
            isApproved: isApproved,
            callCount: Int(callCount),
            callableSince: callableSince,
            firstCalledAt: firstCalledAt,
            generation: Int(generation),
            doubtedSince: doubtedSince,
            isUncalled: isUncalled,
            undoes: undoes.map { ProcessorReference(rawValue: $0) },
            revokes: revokes,
            requestKey: key.map { UsedKey(idempotencyKey: $0, fingerprint: fingerprint ?? []) },
            renewalTry: renewalTry.map(Int.init),
            isBuyerPresent: isBuyerPresent,
            isOwed: isOwed,
            act: try act.map { try $0.decode(Act.self) },
            reference: reference.map { ProcessorReference(rawValue: $0) },
            failedReference: failedReference.map { ProcessorReference(rawValue: $0) },
            advice: advice.flatMap { DeclineAdvice(rawValue: $0) },
            end: outcome.map { AttemptEnd(rawValue: $0) },
            dueAt: dueAt,
            approvalEndsAt: approvalEndsAt,
            actionEndsAt: actionEndsAt,
            waitsFor: waitsFor.map { TransactionID(number: $0) }
        )
    }

    /// Returns the value of a column, if this version of the service knows it.
    private static func known<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw PaymentError(.unknownRow) }
        return value
    }
}
