import EventTypes
import Messaging
import Postgres
import StoreTracing
import Synchronization
import Testing
import TestSupport

@testable import Fulfillment

extension FinishRequest {
    /// Creates a request for a test that is not about traces.
    init(transactionID: TransactionID, queue: QueueKey) {
        self.init(transactionID: transactionID, queue: queue, trace: .begin())
    }
}

/// The trace of a finish, however late it comes.
@Suite(.timeLimit(.minutes(10))) struct TraceTests {
    private static let purchase = TraceContext.begin()

    @Test func aFinishBelongsToItsPurchaseAndItsRequestIsALink() throws {
        let request = TraceContext.begin()
        let trace = FinishTrace(
            of: Self.purchase,
            by: request,
            for: SpanRecorder { _ in }
        )
        let span = try #require(trace.span(from: 1, to: 2))
        #expect(span.context.traceID == Self.purchase.traceID)
        #expect(span.parent == Self.purchase.spanID && span.link == request)
        #expect(trace.traceparent == span.context)
    }

    @Test func aRequestThatCarriesThePurchasesTraceOnIsTheCause() throws {
        let request = Self.purchase.child()
        let trace = FinishTrace(
            of: Self.purchase,
            by: request,
            for: SpanRecorder { _ in }
        )
        let span = try #require(trace.span(from: 1, to: 2))
        #expect(span.parent == request.spanID && span.link == nil)
    }

    @Test func whereNobodyTakesSpansThePurchasesTraceGoesOnAsItCame() {
        let request = TraceContext.begin()
        let trace = FinishTrace(of: Self.purchase, by: request, for: .off)
        #expect(trace.traceparent == Self.purchase)
        #expect(trace.span(from: 1, to: 2) == nil)
        // A transaction from before traces existed.
        #expect(
            FinishTrace(of: nil, by: request, for: .off).traceparent == request
        )
    }

    @Test func aTransactionKeepsTheTraceThatItEnteredTheQueueBy() async throws {
        try await withTestDatabase(migrations: FulfillmentMigrations.all) { database in
            try await database.withClient(role: "counterfoil_fulfillment") { client in
                let store = FulfillmentDatabase(client: client)
                let (first, later) = (Self.purchase, TraceContext.begin())
                try await store.arrive(.sample(1), in: first)
                try await store.arrive(Transaction.sample(1).refunded(), in: later)
                _ = try await store.finishing.finish([
                    FinishRequest(transactionID: TransactionID(number: 1), queue: .sample())
                ])
                let found = try await client.withConnection { connection in
                    try connection.query(
                        "SELECT type, traceparent FROM outbox ORDER BY position"
                    ).map { try $0.decode(String.self, StoredTrace?.self) }
                }
                #expect(
                    found.map(\.0) == [
                        "queue.changed.v1", "queue.changed.v1", "transaction.finished.v1",
                    ]
                )
                // A change has the trace of its cause. The finish has the trace of the purchase.
                #expect(
                    found.map(\.1?.context) == [first, later, first],
                    "\(found)"
                )
            }
        }
    }
}

extension FulfillmentDatabase {
    fileprivate func arrive(_ transaction: Transaction, in trace: TraceContext) async throws {
        let plain = try ReceivedEvent.arrival(transaction)
        let event = ReceivedEvent(
            id: plain.id,
            type: plain.type,
            topic: plain.topic,
            key: plain.key,
            subject: plain.subject,
            time: plain.time,
            traceparent: trace,
            data: plain.data
        )
        try await client.withTransaction { [handler] connection in
            try handler.apply([event], on: connection)
        }
    }
}
