import EventTypes
import Messaging
import Postgres

/// A client's wish to finish a transaction.
struct FinishRequest: Hashable, Sendable {
    let transactionID: TransactionID
    let queue: QueueKey
}

/// What a finish came to.
enum FinishOutcome: Hashable, Sendable {
    /// It is finished, by this request or an earlier one.
    case finished(at: Timestamp)
    /// It stays in the queue.
    case refused(QueueRules.Refusal)
}

/// Finishes transactions, a batch of requests in one database transaction.
struct FinishHandler: Sendable {
    let client: PostgresClient
    let now: @Sendable () -> Timestamp
    /// Told after the commit that the outbox has events.
    let wakeRelay: @Sendable () -> Void

    /// Answers requests, each in the place of its own.
    func finish(_ requests: [FinishRequest]) async throws -> [FinishOutcome] {
        let now = now()
        let (outcomes, hasChanged) = try await client.withTransaction { connection in
            try Self.finish(requests, now: now, on: connection)
        }
        if hasChanged { wakeRelay() }
        return outcomes
    }

    private static func finish(
        _ requests: [FinishRequest],
        now: Timestamp,
        on connection: isolated PostgresConnection
    ) throws -> ([FinishOutcome], Bool) {
        try QueueStore.lockExisting(Set(requests.map(\.queue)), on: connection)
        var known = try QueueStore.transactions(
            Set(requests.map(\.transactionID)),
            on: connection
        )
        var finished: [(id: TransactionID, ordinal: Int64)] = []
        var counts: [QueueKey: Int64] = [:]
        let outcomes = requests.map { request -> FinishOutcome in
            switch QueueRules.finish(known[request.transactionID], from: request.queue) {
            case .refused(let refusal):
                return .refused(refusal)
            case .alreadyFinished(let time):
                return .finished(at: time)
            case .finish:
                // A second request of the same batch finds it finished.
                known[request.transactionID]?.finishedAt = now
                counts[request.queue, default: 0] += 1
                finished.append((request.transactionID, counts[request.queue, default: 0]))
                return .finished(at: now)
            }
        }
        guard !finished.isEmpty else { return (outcomes, false) }
        let revisions = try QueueStore.advance(counts, on: connection)
        let snapshots = try QueueStore.snapshots(finished.map(\.id), on: connection)
        let changes = finished.compactMap { id, ordinal -> QueueChange? in
            guard let row = known[id], let snapshot = snapshots[id] else { return nil }
            return QueueChange(
                queue: row.queue,
                transactionID: id,
                revision: revisions[row.queue, default: 0] + ordinal,
                snapshot: snapshot,
                isDelivered: row.isDelivered,
                finishedAt: now,
                contents: row.contents
            )
        }
        try QueueStore.finish(changes, on: connection)
        try QueueStore.publish(changes, as: .transactionFinished, now: now, on: connection)
        return (outcomes, true)
    }
}
