public import Postgres

/// The lead over a piece of work that one process of a service does at a time.
///
/// It is an advisory lock of the service's database and a *term*: a number that rises with every
/// leader. The lock decides who leads. It is lost within seconds (`LockHolder.silenceMax`) by a process
/// that is stopped, and by one whose work hangs: whoever leads calls ``move()`` at every step. The term
/// fences: what is written with ``LeadStore/require(_:on:)`` in the same database transaction, or in a
/// statement with the lead's own fence, is written by the newest leader or not at all.
public struct Lead: Sendable {
    /// What is led: `relay`.
    public let name: String
    /// Higher than that of every leader before.
    public let term: Int64
    private let holder: LockHolder

    init(name: String, term: Int64, holder: LockHolder) {
        self.name = name
        self.term = term
        self.holder = holder
    }

    /// Notes that the work has got a step on.
    public func move() { holder.move() }

    /// Refuses to go on where the lead may be another's by now.
    ///
    /// To be asked before an effect that no fence covers. It spares the effect in almost every case;
    /// the receiver has to bear it in the others.
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
    /// It waits for the schema that the service needs and for the lead, for ever or until the task is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - name: What is led.
    ///   - key: The advisory lock.
    ///   - body: Gets the lead. It calls ``Lead/move()`` more often than every
    ///     ``LockHolder/silenceMax``, and ends when its task is cancelled.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws; `PostgresError` with `connectionLost` if the lead was lost;
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
