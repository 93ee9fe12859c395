import EventTypes
import Foundation
import Kafka
import Postgres
import StoreAPI
import StoreHarness

/// The one purchase of the demonstration.
///
/// Each step performs an action and shows its visible effects.
struct DemoStory {
    private let terminal: Terminal
    private let store: StoreHarness
    private let client: StoreClient
    private let watcher: EventWatcher
    private let clock = ContinuousClock()
    private let begin: ContinuousClock.Instant
    /// The number of sightings that were shown.
    private var told = 0

    init(terminal: Terminal, store: StoreHarness) throws {
        self.terminal = terminal
        self.store = store
        client = try store.client(account: "ada")
        watcher = try EventWatcher.start(store)
        begin = clock.now
    }

    /// Makes the purchase and shows each step.
    ///
    /// - Returns: Whether the audit found no violation.
    mutating func tell() async throws -> Bool {
        let price = try await askForProducts()
        let transaction = try await pay(price)
        try await followToDelivery(transaction)
        try await showLedger(transaction)
        try await showReceipt(transaction)
        try await showDelivery(transaction)
        try await finish(transaction)
        await watcher.stop()
        return try await audit(transaction)
    }

    private func askForProducts() async throws -> Money {
        terminal.heading("1  The app asks what can be bought, and for how much")
        let answer = try await client.products(["com.example.coins.100", "com.example.nothing"])
        terminal.show(
            "GET",
            "/v1/products?ids=com.example.coins.100,com.example.nothing&storefront=USA",
            service: "catalog",
            body: nil,
            answer.response
        )
        guard let product = try answer.value.products.first else {
            throw HarnessError("The sample product is not sold.")
        }
        return product.price
    }

    private func pay(_ price: Money) async throws -> Transaction {
        terminal.heading("2  The buyer taps: a payment is added to the queue")
        var request = PaymentRequest.sample(SampleCatalog.coins)
        request.price = price
        let answer = try await client.add(request, key: "demo-1")
        terminal.show(
            "POST",
            "/v1/payments",
            service: "payments",
            headers: ["idempotency-key: demo-1"],
            body: String(decoding: try JSONEncoder().encode(request), as: UTF8.self),
            answer.response
        )
        let again = try await client.add(request, key: "demo-1")
        terminal.line(
            "  Asked again under the same key: \(again.status), transaction "
                + "\(try again.value.transaction.id). Nothing happens twice.",
            .dim
        )
        return try answer.value.transaction
    }

    private mutating func followToDelivery(_ transaction: Transaction) async throws {
        terminal.heading("3  Each event, as it crosses the broker")
        try await watcher.sighting(of: .transactionPurchased, about: transaction.id)
        try await watcher.sighting(of: .receiptIssued, about: transaction.id)
        let (watcher, id) = (watcher, transaction.id)
        try await eventually("the purchase to be delivered") {
            watcher.sightings(of: id).contains { $0.data.contains(#""isDelivered":true"#) }
                ? () : nil
        }
        tellEvents(about: transaction)
    }

    private mutating func tellEvents(about transaction: Transaction) {
        let sightings = watcher.sightings(of: transaction.id)
        var rows = [["topic", "partition/offset", "key", "event", "id"]]
        // Topics are read concurrently, but event ids rise with time.
        for sighting in sightings.dropFirst(told).sorted(by: { $0.id < $1.id }) {
            rows.append([
                sighting.message.topic, "\(sighting.message.partition)/\(sighting.message.offset)",
                sighting.key, sighting.type, sighting.id,
            ])
        }
        told = sightings.count
        terminal.table(rows)
    }

    private func showLedger(_ transaction: Transaction) async throws {
        terminal.heading("4  The ledger: double entry, zero in sum")
        let number = transaction.id.number
        let entries = try await store.withDatabase(of: .payments) { connection in
            try connection.query(
                """
                SELECT kind, account, amount, currency FROM ledger_entries
                WHERE transaction_id = \(number) ORDER BY posting_id, entry_number
                """
            ).map { row in
                try row.decode(String.self, String.self, Int64.self, String.self)
            }.map { kind, account, amount, currency in
                [
                    kind, account,
                    "\(Money(minorUnits: amount, currency: Currency(unchecked: currency)))",
                ]
            }
        }
        terminal.table([["posting", "account", "amount"]] + entries, rightAligned: [2])
    }

    private func showReceipt(_ transaction: Transaction) async throws {
        terminal.heading("5  The receipt: a signed transaction that anybody can verify")
        let answer = try await client.receipt(transaction.id)
        terminal.show(
            "GET",
            "/v1/transactions/\(transaction.id)/receipt",
            service: "receipts",
            body: nil,
            answer.response
        )
        let root = try Data(contentsOf: URL(fileURLWithPath: store.keys.rootCertificate))
        let check = try SignedTransactionCheck(
            try answer.value.signedTransaction,
            rootCertificate: Array(root)
        )
        terminal.field("algorithm", "ES256, three certificates in x5c")
        for name in check.chain { terminal.field("certificate", name) }
        terminal.field("payload", "")
        terminal.flow(check.payload, indent: 4)
        terminal.field("verified", "signature, chain and root are valid", .green)
    }

    private func showDelivery(_ transaction: Transaction) async throws {
        terminal.heading("6  The delivery, and what the account owns")
        let number = transaction.id.number
        let rows = try await store.withDatabase(of: .fulfillment) { connection in
            try connection.query(
                """
                SELECT state, is_delivered::text, changed_at::text FROM queue_transactions
                WHERE transaction_id = \(number)
                """
            ).map { row in
                try row.decode(String.self, String.self, String.self)
            }.map { [$0, $1, $2] }
        }
        terminal.table([["state", "delivered", "at"]] + rows)
        terminal.line()
        let credits = try await client.credits()
        terminal.show("GET", "/v1/credits", service: "fulfillment", body: nil, credits.response)
    }

    private mutating func finish(_ transaction: Transaction) async throws {
        terminal.heading("7  The app has done its part, and finishes the transaction")
        let answer = try await client.finish(transaction.id)
        terminal.show(
            "POST",
            "/v1/transactions/\(transaction.id)/finish",
            service: "fulfillment",
            body: nil,
            answer.response
        )
        _ = try answer.value
        let again = try await client.finish(transaction.id)
        terminal.line("  Finished again: \(again.status), the same answer.", .dim)
        terminal.line()
        try await watcher.sighting(of: .transactionFinished, about: transaction.id)
        tellEvents(about: transaction)
    }

    private func audit(_ transaction: Transaction) async throws -> Bool {
        terminal.heading("8  The audit: all four databases and the processor's books")
        let accepted = [AcceptedPayment(transactionID: transaction.id, account: client.account)]
        // The finish is on its way to `receipts` and `payments`.
        let report = try await Auditor(store).audit(accepted: accepted, within: .seconds(60))
        terminal.show(report)
        return report.isClean
    }
}

extension Terminal {
    /// Shows the result of an audit.
    func show(_ report: AuditReport) {
        let rows = report.counts.map { [$0.name, Self.describe($0.count)] }
        table([["", "count"]] + rows, rightAligned: [1])
        line()
        for violation in report.violations.prefix(20) { line("  \(violation)", .red) }
        if report.violations.count > 20 {
            line("  … and \(report.violations.count - 20) more", .red)
        }
        line("  " + report.verdict, report.isClean ? .green : .red)
    }
}
