import EventTypes
import Foundation
import StoreAPI
import TestSupport
import Testing

extension EndToEnd {
    /// The crash points of refunds and reversals, in the table of Messaging's documentation.
    @Suite
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

        @Test(.onlySandbox("Stripe takes no refund back."))
        func afterReversalIntentBeforeTheCall() async throws {
            try await reversal { store in
                try store.hold(
                    .payments,
                    .beforeStatement(containing: "INSERT INTO sandbox_processor.reversals")
                )
            }
        }

        @Test(.onlySandbox("Stripe takes no refund back."))
        func afterReversalBeforeItsCommit() async throws {
            try await reversal { store in
                try store.hold(
                    .payments,
                    .beforeCommit(ofTransactionWith: "INTO ledger_postings")
                )
            }
        }

        @Test func beforeAnApprovalIsCommitted() async throws {
            try await approval { store in
                try store.hold(
                    .payments,
                    .beforeCommit(ofTransactionWith: "INTO refund_requests")
                )
            }
        }

        @Test(.onlySandbox("It stops a statement of the sandbox's books."))
        func afterAnApprovalBeforeItsRefund() async throws {
            try await approval { store in
                try store.hold(
                    .payments,
                    .beforeStatement(containing: "INSERT INTO sandbox_processor.refunds")
                )
            }
        }

        @Test func afterAnApprovedRefundBeforeItsCommit() async throws {
            try await approval { store in
                try store.hold(
                    .payments,
                    .beforeCommit(ofTransactionWith: "INTO ledger_postings")
                )
            }
        }

        /// Approves a buyer's request for a part, and kills the service in the middle.
        private func approval(_ hold: @Sendable (StoreHarness) throws -> Hold) async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy()
                try await store.expectWhole([payment])
                let id = payment.transactionID
                _ = try await store.client(account: "ada").askForRefund(of: id).value
                let hold = try hold(store)
                let approve = ["refund-requests", "approve", id.rawValue, "--amount", "0.40"]
                async let first = store.counterfoil(approve)
                try await store.crash(.payments, at: hold)
                _ = try? await first
                // The administrator has seen no answer, and repeats the command.
                let second = try await store.counterfoil(approve)
                #expect(second.exit == .code(0), "\(second.output)")
                try await store.expectMoney(of: id, refunds: 1, reversals: 0)
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
        reversals: Int
    ) async throws {
        _ = try await eventually(
            every: .milliseconds(200),
            "the refund and its reversal to be settled, each once"
        ) {
            () async throws -> Bool? in
            let books = try await reconcile().transactions?.first { $0.id == id }
            guard let books, let entry = books.entry else { return nil }
            let kinds = books.postings.map(\.kind)
            let cents = Int64(40 * (refunds - reversals))
            let isSettled =
                entry.refunds.count == refunds
                && entry.refunds.count { $0.reversedAt != nil } == reversals
                && kinds.count { $0 == "refund" } == refunds
                && kinds.count { $0 == "refund_reversal" } == reversals
                && books.charges.map(\.returned.minorUnits) == [cents]
            return isSettled ? true : nil
        }
    }
}
