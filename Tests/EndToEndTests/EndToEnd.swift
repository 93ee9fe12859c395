import EventTypes
import NIOHTTP1
import StoreAPI
import Testing
import TestSupport

/// The built executables, driven over their public interfaces and killed from outside.
///
/// `make test` runs few of the tests at a time, because each store has eight processes and the machine
/// may have only two cores. Each test has a store of its own, so those of a suite need not wait for each
/// other. Only those of ``PaymentQueues`` do, because a process has one payment queue.
@Suite(.timeLimit(.minutes(10)))
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

    /// Finishes payments after their delivery.
    func finish(_ payments: [AcceptedPayment], instance: Int = 1) async throws {
        for payment in payments {
            try await client(account: payment.account.rawValue, instance: instance)
                .finishUntilDone(payment.transactionID)
        }
    }

    /// Finishes payments, waits until every service has recorded it, and checks the guarantee.
    ///
    /// Everything must exist exactly once.
    func expectWhole(
        _ payments: [AcceptedPayment],
        instance: Int = 1
    ) async throws {
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

    /// Waits until all books agree, and returns their records of each transaction.
    @discardableResult
    func agreedBooks(within limit: Duration = .seconds(60)) async throws -> [TransactionBooks] {
        let answer = try await reconcile(within: limit)
        #expect(answer.differences == [])
        return answer.transactions ?? []
    }

    /// Returns the number of events that all services have applied since their start, from
    /// `/metrics`.
    func appliedEvents() async throws -> Int {
        var sum = 0.0
        for process in processes {
            let answer = try await StoreHTTP.send(.GET, process.url + "/metrics")
            for line in answer.text.split(separator: "\n")
            where line.hasPrefix("consumer_events_applied") {
                sum += Double(line.split(separator: " ").last ?? "") ?? 0
            }
        }
        return Int(sum)
    }

    /// The output of `counterfoil verify --json` for one service.
    struct Seals: Decodable {
        struct Chain: Decodable {
            let log: String
            let rows: Int
        }

        let service: String
        let chains: [Chain]
        let unsealedRows: Int
        let findings: [String]
    }

    /// Waits until every service has sealed its logs, and checks the chains.
    @discardableResult
    func soundSeals() async throws -> [Seals] {
        let seals = try await eventually(every: .milliseconds(200), "the seals of all logs") {
            let seals = try await counterfoil("verify", "--json").json([Seals].self)
            return seals.allSatisfy { $0.unsealedRows == 0 || !$0.findings.isEmpty } ? seals : nil
        }
        #expect(seals.map(\.service).sorted() == StoreService.allCases.map(\.rawValue).sorted())
        for service in seals { #expect(service.findings == [], "\(service.service)") }
        return seals
    }

    /// Waits until every service has sealed its event log, which must not be empty, and checks the
    /// chains.
    func expectSealed() async throws {
        for service in try await soundSeals() {
            #expect(service.chains.contains { $0.log == "outbox" }, "\(service.service)")
        }
    }

    /// Returns the first transaction.
    func firstTransaction() async throws -> Int64 {
        try #require(try await reconcile().transactions?.compactMap { Int64($0.id.rawValue) }.min())
    }

    /// Runs an audit after the books agree or the time limit is over.
    func quietAudit(
        _ payments: [AcceptedPayment],
        within limit: Duration = .seconds(60)
    ) async throws -> AuditReport {
        try await Auditor(self).audit(accepted: payments, within: limit)
    }

    /// Begins a purchase whose charge is held before the sandbox has it.
    ///
    /// The store needs a proxy between `payments` and PostgreSQL.
    func buyHeldBeforeCharge() async throws -> (payment: AcceptedPayment, hold: Hold) {
        let hold = try hold(
            .payments,
            .beforeStatement(containing: "INSERT INTO sandbox_processor.charges")
        )
        return (try await buy(), hold)
    }

    /// Kills a service at a hold, drops the held messages, and restarts the service.
    func crash(_ service: StoreService, at hold: Hold) async throws {
        try await hold.reached()
        await process(service).kill()
        try await hold.dropped()
        hold.release()
        try await process(service).start()
        try await process(service).waitUntilReady()
    }
}
