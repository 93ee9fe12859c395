import EventTypes
import StoreAPI
import TestSupport
import Testing

extension EndToEnd {
    /// Kills around what a processor takes its time for, and around disputes.
    @Suite
    struct ProcessorCrashPoints {
        /// The commit that the charge has begun, and the one that it is made.
        @Test(arguments: ["step = coalesce(u.step", "INTO ledger_postings"])
        func aChargeThatTakesItsTimeIsMadeOnce(statement: String) async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                try await store.importSampleCatalog()
                let hold = try store.hold(
                    .payments,
                    .beforeCommit(ofTransactionWith: statement)
                )
                let payment = try await store.buy(by: .processing)
                try await store.crash(.payments, at: hold)
                try await store.expectWhole([payment])
            }
        }

        @Test(.onlySandbox("Stripe tells of it by a webhook, as in StripeCrashPoints."))
        func aRefundThatTakesItsTimeIsMadeOnce() async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy(by: .refundPending)
                try await store.expectWhole([payment])
                let hold = try store.hold(
                    .payments,
                    .beforeCommit(ofTransactionWith: "INTO ledger_postings")
                )
                _ = try await store.administrator.refund(payment.transactionID)
                try await store.crash(.payments, at: hold)
                try await store.expectOne("refund", of: payment.transactionID)
            }
        }

        /// The bank's book is written before the store's.
        @Test(
            .onlySandbox("It has the sandbox's bank dispute a purchase."),
            arguments: ["INTO sandbox_processor.disputes", "INTO processor_disputes"]
        )
        func aDisputeIsBookedOnce(statement: String) async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy()
                try await store.expectWhole([payment])
                let id = payment.transactionID
                let hold = try store.hold(
                    .payments,
                    .beforeCommit(ofTransactionWith: statement)
                )
                async let asked = store.counterfoil("test", "dispute", id.rawValue)
                try await store.crash(.payments, at: hold)
                // Its answer may be lost. Whoever asks repeats the step.
                _ = try? await asked
                // Until then the bank's book is ahead, if it was written.
                let isWritten = statement == "INTO processor_disputes"
                let expected = isWritten ? ["refundDiffers"] : []
                let named = try await store.reconcile().differences.map(\.kind)
                #expect(named == expected)
                let again = try await store.counterfoil("test", "dispute", id.rawValue)
                #expect(again.exit == .code(0), "\(again.output)")
                try await store.expectOne("chargeback", of: id)
            }
        }
    }
}

extension StoreHarness {
    /// Expects that all books have given the money of a purchase back once, with one posting of a
    /// kind.
    func expectOne(
        _ kind: String,
        of id: TransactionID,
        within limit: Duration = .seconds(60)
    ) async throws {
        _ = try await eventually(
            within: limit,
            every: .milliseconds(200),
            "the money to be given back, once"
        ) {
            () async throws -> Bool? in
            let found = try await reconcile()
            guard let books = found.transactions?.first(where: { $0.id == id }),
                let entry = books.entry, found.differences.isEmpty
            else { return nil }
            let count = books.postings.count { $0.kind == kind }
            return entry.refunds.count == 1 && count == 1 ? true : nil
        }
    }
}
