import EventTypes
import Messaging
import Postgres
import StoreAPI
import Testing
import TestSupport

/// The built executables, driven over their public interfaces and killed from outside.
///
/// One at a time: each store is eight processes, and the machine may have two cores.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct EndToEnd {}

extension StoreHarness {
    /// Pays for a product, and waits for the answer.
    func buy(
        _ product: ProductID = SampleCatalog.coins,
        by method: SandboxPaymentMethod = .success,
        as account: String = "ada",
        instance: Int = 1
    ) async throws -> AcceptedPayment {
        let client = try client(account: account, instance: instance)
        let transaction = try await client.addUntilAnswered(.sample(product, by: method)).value
            .transaction
        return AcceptedPayment(
            transactionID: transaction.id,
            account: client.account,
            paymentMethod: method.rawValue
        )
    }

    /// Finishes payments, each once it is delivered.
    func finish(_ payments: [AcceptedPayment], instance: Int = 1) async throws {
        for payment in payments {
            try await client(account: payment.account.rawValue, instance: instance)
                .finishUntilDone(payment.transactionID)
        }
    }

    /// Finishes payments, waits until every service has heard of it, and checks the guarantee: of
    /// everything exactly one.
    func expectWhole(_ payments: [AcceptedPayment], instance: Int = 1) async throws {
        try await finish(payments, instance: instance)
        let report = try await quietAudit(payments)
        #expect(report.violations.isEmpty, "\(report.verdict)")
        let purchased = report.count("purchased")
        #expect(purchased == payments.count)
        #expect(report.count("charges") == purchased)
        #expect(report.count("postings") == purchased)
        #expect(report.count("receipts") == purchased)
        #expect(report.count("deliveries") == purchased)
        #expect(report.count("finished") == purchased)
        try await expectSealed()
    }

    /// Waits until every service has sealed its event log, and checks the chains.
    func expectSealed() async throws {
        for service in StoreService.allCases {
            let report = try await eventually("the seals of \(service)") {
                let report = try await self.withDatabase(of: service) { connection in
                    try connection.inTransaction { connection in
                        try SealCheck(logs: [.outbox]).run(on: connection)
                    }
                }
                return report.unsealedRows == 0 || !report.findings.isEmpty ? report : nil
            }
            #expect(report.findings == [], "\(service)")
            #expect(!report.months.isEmpty, "\(service)")
        }
    }

    /// The transaction that was made first.
    func firstTransaction() async throws -> Int64 {
        let first = try await withDatabase(of: .payments) { connection in
            try connection.query("SELECT min(id) FROM transactions").first?.decode(Int64?.self)
        }
        return try #require(first ?? nil)
    }

    /// Audits until nothing is on its way any more, or until there is no more time.
    func quietAudit(
        _ payments: [AcceptedPayment],
        within limit: Duration = .seconds(60)
    ) async throws -> AuditReport {
        let deadline = ContinuousClock.now.advanced(by: limit)
        while true {
            let report = try await Auditor(self).audit(accepted: payments)
            if report.isClean || ContinuousClock.now >= deadline { return report }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Kills a service where it is held, drops what is held, and starts it again.
    func crash(_ service: StoreService, at hold: Hold) async throws {
        try await hold.reached()
        await process(service).kill()
        try await hold.dropped()
        hold.release()
        try await process(service).start()
        try await process(service).waitUntilReady()
    }
}
