import EventTypes
import Foundation
import Postgres
import StoreAPI
import TestSupport
import Testing

extension EndToEnd {
    /// The crash points of refunds and reversals, in the table of Messaging's documentation.
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct RefundCrashPoints {
        private let part = RefundRequest(
            amount: Money(minorUnits: 40, currency: Currency(unchecked: "USD"))
        )

        @Test func afterRefundBeforeItsCommit() async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy()
                try await store.expectWhole([payment])
                let hold = try store.hold(
                    .payments,
                    .beforeCommit(ofTransactionWith: "INTO ledger_postings")
                )
                async let asked = store.administrator.refund(payment.transactionID, part, key: "k")
                try await store.crash(.payments, at: hold)
                _ = try? await asked
                // The client has lost its answer and asks again under its key.
                _ = try await store.administrator.refund(payment.transactionID, part, key: "k")
                try await store.expectMoney(of: payment.transactionID, refunds: 1, reversals: 0)
            }
        }

        @Test func afterReversalIntentBeforeTheCall() async throws {
            try await reversal { store in
                try store.hold(
                    .payments,
                    .beforeStatement(containing: "INSERT INTO sandbox_processor.reversals")
                )
            }
        }

        @Test func afterReversalBeforeItsCommit() async throws {
            try await reversal { store in
                try store.hold(
                    .payments,
                    .beforeCommit(ofTransactionWith: "INTO ledger_postings")
                )
            }
        }

        /// Refunds a part, and kills the service in the middle of the reversal.
        private func reversal(_ hold: @Sendable (StoreHarness) throws -> Hold) async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy()
                try await store.expectWhole([payment])
                let id = payment.transactionID
                _ = try await store.administrator.refund(id, part, key: "k").value
                let hold = try hold(store)
                async let asked = store.administrator.reverseRefund(1, of: id)
                try await store.crash(.payments, at: hold)
                _ = try? await asked
                _ = try await store.administrator.reverseRefund(1, of: id)
                try await store.expectMoney(of: id, refunds: 1, reversals: 1)
            }
        }
    }
}

extension StoreHarness {
    /// Expects that the processor and the ledger have each refund and reversal once.
    fileprivate func expectMoney(
        of id: TransactionID,
        refunds: Int,
        reversals: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let expected = [refunds, reversals, refunds, reversals, refunds + reversals].map(Int64.init)
        try await eventually("the refund and its reversal to be settled, each once") {
            try await moneyCounts() == expected ? true : nil
        }
        // Leases have ended by then, so nothing is carried out once more.
        try await quietBooks(of: id)
        #expect(try await moneyCounts() == expected, sourceLocation: sourceLocation)
    }

    /// The refunds and reversals of the processor, of the ledger, and their events.
    private func moneyCounts() async throws -> [Int64] {
        try await withDatabase(of: .payments) { connection in
            try connection.query(
                """
                SELECT ARRAY[(SELECT count(*) FROM sandbox_processor.refunds),
                    (SELECT count(*) FROM sandbox_processor.reversals),
                    (SELECT count(*) FROM ledger_postings WHERE kind = 'refund'),
                    (SELECT count(*) FROM ledger_postings WHERE kind = 'refund_reversal'),
                    (SELECT count(*) FROM outbox WHERE type LIKE 'transaction.refund%')]
                """
            ).first?.decode([Int64].self) ?? []
        }
    }

    /// Waits until payments owes the processor nothing.
    private func quietBooks(of id: TransactionID) async throws {
        try await eventually("no attempt to be owed") {
            try await withDatabase(of: .payments) { connection in
                let rows = try connection.query(
                    """
                    SELECT FROM processor_attempts
                    WHERE transaction_id = \(id.number) AND step <> 'settled'
                    """
                )
                return rows.count == 0 ? true : nil
            }
        }
    }
}
