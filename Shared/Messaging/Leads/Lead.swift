public import Postgres

/// The right of one process of a service to do a piece of work.
///
/// A lead consists of an advisory lock in the service's database and a *term*, a number that rises
/// with every leader. The lock decides who leads. A process that is stopped, or whose work hangs,
/// loses the lock within seconds (`LockHolder.silenceMax`), so a leader calls ``move()`` at every
/// step. The term is a fencing token. A write with ``LeadStore/require(_:on:)`` in the same
/// database transaction, or in a statement with the lead's own fence, succeeds only for the newest
/// leader.
public struct Lead: Sendable {
    /// The name of the work, such as `relay`.
    public let name: String
    /// The lead's number, higher than that of every leader before.
    public let term: Int64
    private let holder: LockHolder

    init(name: String, term: Int64, holder: LockHolder) {
        self.name = name
        self.term = term
        self.holder = holder
    }

    /// Notes that the work has made progress.
    public func move() { holder.move() }

    /// Refuses to continue if another process may have taken over the lead.
    ///
    /// Call it before an effect that no fence protects. It prevents that effect in almost every
    /// case; the receiver must tolerate it in the others.
    ///
    /// - Throws: ``MessagingError`` with ``MessagingError/Code/leadLost``.
    public func requireRecent() throws(MessagingError) {
        guard holder.isRecent else { throw lost }
    }

    var lost: MessagingError {
        MessagingError(
            .leadLost,
            "another process leads '\(name)' by now; this one's term was \(term)",
            isRetriable: true
        )
    }
}

extension PostgresClient {
    /// Runs a body while this process leads a piece of work.
    ///
    /// It waits for the schema that the service needs and for the lead, until the task is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - name: The name of the work.
    ///   - key: The key of the advisory lock.
    ///   - body: Receives the lead. It calls ``Lead/move()`` at least once in every
    ///     ``LockHolder/silenceMax``, and ends when its task is cancelled.
    /// - Returns: The result of the body.
    /// - Throws: Any error of the body; `PostgresError` with `connectionLost` if the lead was lost;
    ///   `CancellationError` if the task was cancelled.
    public func withLead<R: Sendable>(
        _ name: String,
        key: Int64,
        _ body: @escaping @Sendable (Lead) async throws -> R
    ) async throws -> R {
        try await waitForSchema()
        let holder = LockHolder()
        return try await withAdvisoryLock(key, holder) { connection in
            try LeadStore.take(name, holder, on: connection)
        } _: { lead in
            try await body(lead)
        }
    }
}
