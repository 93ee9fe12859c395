import EventTypes
import Messaging
import Postgres
import StoreTracing

/// Finishes transactions, a batch of requests in one database transaction.
struct FinishHandler: Sendable {
    let client: PostgresClient
    let now: @Sendable () -> StoreTime
    var spans: SpanRecorder = .off
    let publisher: QueuePublisher

    /// Finishes a batch and returns the outcomes in the order of the requests.
    func finish(_ requests: [FinishRequest]) async throws -> [FinishOutcome] {
        let now = now()
        let start = spans.start
        let (outcomes, traces) = try await client.withTransaction { [self] connection in
            try finish(requests, now: now, on: connection)
        }
        if !traces.isEmpty {
            let end = spans.start
            spans.record(traces.compactMap { $0.span(from: start, to: end) })
        }
        return outcomes
    }

    private func finish(
        _ requests: [FinishRequest],
        now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> ([FinishOutcome], [FinishTrace]) {
        try QueueStore.lockExisting(Set(requests.map(\.queue)), on: connection)
        let (known, snapshots) = try connection.read(
            QueueStore.transactionsWithSnapshots(Set(requests.map(\.transactionID)))
        )
        let plan = FinishPlan(requests, of: known, at: now)
        guard !plan.finishes.isEmpty else { return (plan.outcomes, []) }
        let traces = plan.finishes.map {
            FinishTrace(
                of: known[$0.transactionID]?.traceparent,
                by: requests[$0.request].trace,
                for: spans
            )
        }
        let revisions = try QueueStore.advance(plan.counts, on: connection)
        let changes = try zip(plan.finishes, traces).map { finish, trace in
            guard let transaction = known[finish.transactionID],
                let snapshot = snapshots[transaction.id]
            else {
                throw FulfillmentError(
                    .rowMissing,
                    "the queue's row of transaction \(finish.transactionID) is gone"
                )
            }
            return QueueChange(
                queue: transaction.queue,
                transactionID: transaction.id,
                revision: revisions[transaction.queue, default: 0] + finish.ordinal,
                snapshot: snapshot,
                isDelivered: transaction.isDelivered,
                finishedAt: now,
                contents: transaction.contents,
                traceparent: trace.traceparent
            )
        }
        try QueueStore.finish(changes, on: connection)
        try publisher.publish(changes, as: .transactionFinished, now: now, on: connection)
        return (plan.outcomes, traces)
    }
}
