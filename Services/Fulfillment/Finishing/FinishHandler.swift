import EventTypes
import Messaging
import Postgres
import StoreTracing

/// A client's request to finish a transaction.
struct FinishRequest: Hashable, Sendable {
    let transactionID: TransactionID
    let queue: QueueKey
    /// The trace of the HTTP request.
    ///
    /// It is the purchase's trace only if the client has propagated it.
    let trace: TraceContext
}

/// The outcome of a request to finish.
enum FinishOutcome: Hashable, Sendable {
    /// The transaction is finished, by this request or an earlier one.
    case finished(at: Timestamp)
    /// The transaction stays in the queue.
    case refused(QueueRules.Refusal)
}

/// Finishes transactions, a batch of requests in one database transaction.
struct FinishHandler: Sendable {
    let client: PostgresClient
    let now: @Sendable () -> Timestamp
    var spans: SpanRecorder = .off
    /// Called after the commit, when the outbox has new events.
    let wakeRelay: @Sendable () -> Void

    /// Finishes a batch and returns the outcomes in the order of the requests.
    func finish(_ requests: [FinishRequest]) async throws -> [FinishOutcome] {
        let now = now()
        let start = spans.start
        let (outcomes, traces) = try await client.withTransaction { [spans] connection in
            try Self.finish(requests, now: now, spans, on: connection)
        }
        if !traces.isEmpty {
            let end = spans.start
            spans.record(traces.compactMap { $0.span(from: start, to: end) })
            wakeRelay()
        }
        return outcomes
    }

    private static func finish(
        _ requests: [FinishRequest],
        now: Timestamp,
        _ spans: SpanRecorder,
        on connection: isolated PostgresConnection
    ) throws -> ([FinishOutcome], [FinishTrace]) {
        try QueueStore.lockExisting(Set(requests.map(\.queue)), on: connection)
        var known = try QueueStore.transactions(
            Set(requests.map(\.transactionID)),
            on: connection
        )
        var finished: [(id: TransactionID, ordinal: Int64, trace: FinishTrace)] = []
        var counts: [QueueKey: Int64] = [:]
        let outcomes = requests.map { request -> FinishOutcome in
            switch QueueRules.finish(known[request.transactionID], from: request.queue) {
            case .refused(let refusal):
                return .refused(refusal)
            case .alreadyFinished(let time):
                return .finished(at: time)
            case .finish:
                // A second request in the same batch finds the transaction finished.
                known[request.transactionID]?.finishedAt = now
                counts[request.queue, default: 0] += 1
                let trace = FinishTrace(
                    of: known[request.transactionID]?.traceparent,
                    by: request.trace,
                    for: spans
                )
                finished.append(
                    (request.transactionID, counts[request.queue, default: 0], trace)
                )
                return .finished(at: now)
            }
        }
        guard !finished.isEmpty else { return (outcomes, []) }
        let revisions = try QueueStore.advance(counts, on: connection)
        let snapshots = try QueueStore.snapshots(finished.map(\.id), on: connection)
        let changes = finished.compactMap { id, ordinal, trace -> QueueChange? in
            guard let row = known[id], let snapshot = snapshots[id] else { return nil }
            return QueueChange(
                queue: row.queue,
                transactionID: id,
                revision: revisions[row.queue, default: 0] + ordinal,
                snapshot: snapshot,
                isDelivered: row.isDelivered,
                finishedAt: now,
                contents: row.contents,
                traceparent: trace.traceparent
            )
        }
        try QueueStore.finish(changes, on: connection)
        try QueueStore.publish(changes, as: .transactionFinished, now: now, on: connection)
        return (outcomes, finished.map(\.trace))
    }
}
