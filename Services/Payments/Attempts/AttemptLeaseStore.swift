import EventTypes
import Postgres

/// The leases of attempts that wait in the memory of a process.
enum AttemptLeaseStore {
    /// Renews the leases of attempts that nobody has carried out yet.
    ///
    /// - Parameters:
    ///   - keys: The attempts.
    ///   - owner: The process that has their leases.
    ///   - time: The time of now; a lease that has ended is not renewed.
    ///   - leaseEnd: The new end.
    ///   - connection: A connection.
    /// - Returns: The attempts that the process keeps.
    /// - Throws: `PostgresError`.
    static func renew(
        of keys: [AttemptKey],
        owner: LeaseOwner,
        at time: MachineTime,
        until leaseEnd: MachineTime,
        on connection: isolated PostgresConnection
    ) throws -> Set<AttemptKey> {
        let rows = try connection.query(
            """
            UPDATE processor_attempts AS a SET due_at = \(leaseEnd)
            FROM unnest(
                \(keys.map(\.transactionID.number)), \(keys.map(\.kind.rawValue)),
                \(keys.map { Int32($0.number) })) AS u (transaction_id, kind, number)
            WHERE a.transaction_id = u.transaction_id AND a.kind = u.kind AND a.number = u.number
                AND a.step = 'calling' AND a.due_at > \(time) AND a.lease_owner = \(owner.id)
            RETURNING a.transaction_id, a.kind, a.number
            """
        )
        return Set(
            try rows.map { row in
                let (id, kind, number) = try row.decode(Int64.self, String.self, Int32.self)
                guard let kind = AttemptKind(rawValue: kind) else {
                    throw PaymentError(.unknownRow)
                }
                return AttemptKey(
                    transactionID: TransactionID(number: id),
                    kind: kind,
                    number: Int(number)
                )
            }
        )
    }

    /// Notes of attempts that the processor was not called for them.
    ///
    /// When their lease ends, it is called without an inquiry.
    ///
    /// - Parameters:
    ///   - keys: The attempts.
    ///   - owner: The process that has their leases.
    ///   - time: The time of now; nothing is noted of an attempt whose lease has ended.
    ///   - connection: A connection.
    /// - Throws: `PostgresError`.
    static func noteUncalled(
        _ keys: [AttemptKey],
        owner: LeaseOwner,
        at time: MachineTime,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            UPDATE processor_attempts AS a SET is_uncalled = true,
                callable_since = coalesce(a.callable_since, a.first_called_at)
            FROM unnest(
                \(keys.map(\.transactionID.number)), \(keys.map(\.kind.rawValue)),
                \(keys.map { Int32($0.number) })) AS u (transaction_id, kind, number)
            WHERE a.transaction_id = u.transaction_id AND a.kind = u.kind AND a.number = u.number
                AND a.step = 'calling' AND a.due_at > \(time) AND a.lease_owner = \(owner.id)
            """
        )
    }
}
