import EventTypes
import Messaging
import Postgres
import ServiceKit
import StoreAPI
import StoreTracing
import Synchronization
import Testing
import TestSupport

@testable import Payments

/// Every step of a payment belongs to the trace of its request, whichever process does it.
@Suite(.timeLimit(.minutes(10))) struct TraceTests {
    @Test func aPaymentItsChargeAndItsRefundAreOneTrace() async throws {
        try await withStore { store in
            let trace = TraceContext.begin()
            let id = try await store.add(request(), key: "a", in: trace)
            try await store.settle()
            guard case .accepted(let attempt, _) = try await store.refunds.beginRefund(of: id)
            else {
                return #expect(Bool(false))
            }
            await store.runner.carryOut([attempt])
            let events = try await store.traces()
            #expect(
                events.map(\.type) == [
                    "transaction.purchasing.v1", "transaction.purchased.v1",
                    "transaction.refunded.v1",
                ]
            )
            #expect(events.allSatisfy { $0.trace == trace.traceID }, "\(events)")
        }
    }

    @Test func aChargeThatAnotherProcessFindsKeepsTheTrace() async throws {
        try await withStore { store in
            let trace = TraceContext.begin()
            _ = try await store.add(request(), key: "a", in: trace)
            // The process that accepted the payment is gone.
            _ = store.pending.take()
            try await store.recover()
            let events = try await store.traces()
            #expect(events.map(\.type).last == "transaction.purchased.v1")
            #expect(events.allSatisfy { $0.trace == trace.traceID }, "\(events)")
        }
    }

    @Test func inABatchEachPaymentKeepsItsOwnTrace() async throws {
        try await withStore { store in
            let traces = (0..<20).map { _ in TraceContext.begin() }
            _ = try await store.payments.accept(
                traces.enumerated().map {
                    PaymentSubmission(
                        account: alice,
                        idempotencyKey: IdempotencyKey(unchecked: "k\($0)"),
                        request: request(),
                        trace: $1
                    )
                }
            )
            try await store.settle()
            let bySubject = Dictionary(grouping: try await store.traces(), by: \.subject)
            #expect(bySubject.count == 20)
            #expect(bySubject.values.allSatisfy { Set($0.map(\.trace)).count == 1 })
            #expect(
                Set(bySubject.values.compactMap { $0.first?.trace })
                    == Set(traces.map(\.traceID))
            )
        }
    }

    @Test func aPaymentThatWaitedForAnotherKeepsItsOwnTrace() async throws {
        try await withStore { store in
            let (first, second) = (TraceContext.begin(), TraceContext.begin())
            _ = try await store.add(request("film"), key: "a", in: first)
            let waiter = try await store.add(request("film"), key: "b", in: second)
            try await store.settle()
            let events = try await store.traces().filter { $0.subject == waiter.rawValue }
            #expect(events.map(\.type).last == "transaction.purchased.v1")
            #expect(events.allSatisfy { $0.trace == second.traceID }, "\(events)")
        }
    }

    @Test func aTransactionOfBeforeThereWereTracesGetsOneForWhatBecomesOfIt() async throws {
        try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
            try await database.withClient(role: PaymentsMigrations.role) { client in
                let store = Store(client: client, tax: TaxRates(), policy: AttemptPolicy())
                try await store.sell(product())
                let id = try await store.add(request(), key: "a", in: .begin())
                try await database.withClient { owner in
                    _ = try await owner.withTransaction { connection in
                        try connection.execute("UPDATE transactions SET traceparent = NULL")
                    }
                }
                try await store.settle()
                guard case .accepted(let attempt, _) = try await store.refunds.beginRefund(of: id)
                else {
                    return #expect(Bool(false))
                }
                await store.runner.carryOut([attempt])
                let events = try await store.traces()
                #expect(events.count == 3 && events.allSatisfy { $0.trace != nil }, "\(events)")
            }
        }
    }

    @Test func whereSpansAreTakenEachEventIsASpanOfItsTrace() async throws {
        let taken = Mutex<[Span]>([])
        try await withStore { store in
            var context = store.context
            context.spans = SpanRecorder { spans in taken.withLock { $0 += spans } }
            let runner = ChargeRunner(processor: store.processor, context: context)
            let trace = TraceContext.begin()
            _ = try await store.add(request(), key: "a", in: trace)
            await runner.carryOut(store.pending.take())
            let span = try #require(taken.withLock { $0 }.first)
            #expect(span.name == "transaction.purchased.v1" && span.start < span.end)
            #expect(span.parent == trace.spanID && span.context.traceID == trace.traceID)
            let event = try #require(try await store.traces().last)
            #expect(event.span == span.context.spanID)
            #expect(taken.withLock { $0.count } == 1)
        }
    }
}

extension Store {
    fileprivate func add(
        _ request: PaymentRequest,
        key: String,
        in trace: TraceContext
    ) async throws -> TransactionID {
        let replies = try await payments.accept([
            PaymentSubmission(
                account: alice,
                idempotencyKey: IdempotencyKey(unchecked: key),
                request: request,
                trace: trace
            )
        ])
        return try transaction(in: try #require(replies.first)).id
    }

    /// The events in the order of the log.
    fileprivate func traces() async throws -> [(
        type: String, subject: String, trace: TraceID?, span: SpanID?
    )] {
        try await client.withConnection { connection in
            try connection.query(
                "SELECT type, subject, traceparent FROM outbox ORDER BY position"
            ).map { row in
                let (type, subject, traceparent) = try row.decode(
                    String.self,
                    String.self,
                    StoredTrace?.self
                )
                let context = traceparent?.context
                return (type, subject, context?.traceID, context?.spanID)
            }
        }
    }
}
