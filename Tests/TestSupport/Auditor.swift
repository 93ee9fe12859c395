import EventTypes
import Logging
import Postgres

/// Proves the guarantee afterwards: reads the databases of all four services and the sandbox
/// processor's books as their owner, and compares them with what a driver saw accepted.
///
/// Run it when the store is quiet; what is still on its way counts as lost.
public struct Auditor: Sendable {
    private let databaseURLs: [StoreService: String]

    /// Makes an auditor of a store.
    public init(_ store: StoreHarness) {
        databaseURLs = Dictionary(
            uniqueKeysWithValues: StoreService.allCases.map { ($0, store.databaseURL($0)) }
        )
    }

    /// Audits.
    ///
    /// - Parameters:
    ///   - accepted: What the driver saw accepted.
    ///   - isFinished: Whether the driver finished everything that can be finished.
    ///   - merchant: Who received the webhooks; their books are compared, too.
    /// - Returns: What was counted and what is wrong.
    /// - Throws: An error when the store cannot be read.
    public func audit(
        accepted: [AcceptedPayment],
        isFinished: Bool = true,
        merchant: WebhookReceiver? = nil
    ) async throws -> AuditReport {
        let payments = try await read(.payments, PaymentsBooks.init)
        let receipts = try await read(.receipts, ReceiptsBooks.init)
        let fulfillment = try await read(.fulfillment, FulfillmentBooks.init)
        let accounts = try await read(.payments, AccountBooks.known)
        let told = try await read(.fulfillment, AccountBooks.told)
        let deadLetters = try await deadLetters()

        var report = AuditReport()
        report.count("accepted", accepted.count)
        for payment in Set(accepted)
        where payments.transactions[payment.transactionID.number] == nil {
            report.add(.lost, payment.transactionID, "accepted, and unknown to payments")
        }
        let acceptedIDs = Set(accepted.map(\.transactionID.number))
        for id in payments.transactions.keys where !acceptedIDs.contains(id) {
            report.add(.doubled, id, "in the books of payments, and nobody was told of it")
        }
        payments.check(&report)
        receipts.check(&report, paid: payments.paid)
        fulfillment.check(&report, payments: payments, isFinished: isFinished)
        if isFinished {
            payments.checkFinishes(&report, fulfillment.finished)
            receipts.checkFinishes(&report, payments.paid.intersection(fulfillment.finished))
        }
        accounts.check(&report, told: told)
        if let merchant {
            let confirmed = merchant.confirmed
            report.count("webhooks", fulfillment.webhooks.count)
            for (webhook, id) in fulfillment.webhooks where !confirmed.contains(webhook) {
                report.add(.lost, id, "\(webhook) is delivered, and the merchant did not say so")
            }
        }
        report.count("dead letters", deadLetters.count)
        for letter in deadLetters {
            report.add(.lost, letter.subject, letter.detail)
        }
        return report
    }

    private func deadLetters() async throws -> [(subject: String, detail: String)] {
        var letters: [(String, String)] = []
        for service in StoreService.allCases {
            letters += try await read(service) { connection in
                try connection.query(
                    """
                    SELECT subject, type, topic, state, reason FROM dead_letters
                    WHERE state IN ('dead', 'parked') ORDER BY id
                    """
                ).map { row in
                    let (subject, type, topic, state, reason) = try row.decode(
                        String.self,
                        String.self,
                        String.self,
                        String.self,
                        String.self
                    )
                    return (
                        subject, "\(type) of \(topic) is \(state) in \(service.rawValue): \(reason)"
                    )
                }
            }
        }
        return letters
    }

    private func read<Books: Sendable>(
        _ service: StoreService,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> Books
    ) async throws -> Books {
        try await withOwnerClient(databaseURLs[service] ?? "") { client in
            try await client.withTransaction(body)
        }
    }
}

/// Runs a body with a connection pool of its own.
func withOwnerClient<Result: Sendable>(
    _ url: String,
    _ body: @escaping @Sendable (PostgresClient) async throws -> Result
) async throws -> Result {
    let client = PostgresClient(
        settings: PostgresSettings(
            url: url,
            applicationName: "auditor",
            poolSize: 1,
            statementTimeout: .seconds(120)
        ),
        logger: Logger(label: "auditor", factory: { _ in SwiftLogNoOpLogHandler() })
    )
    return try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask {
            try await client.run()
            return nil
        }
        group.addTask { try await body(client) }
        defer { group.cancelAll() }
        while let result = try await group.next() {
            if let result { return result }
        }
        throw HarnessError("The connections to \(url) ended.")
    }
}

/// What happened to the outbox's events of one type: how many for each transaction.
func eventCounts(
    of type: EventType,
    on connection: isolated PostgresConnection
) throws -> [String: Int64] {
    let rows = try connection.query(
        "SELECT subject, count(*) FROM outbox WHERE type = \(type.rawValue) GROUP BY subject"
    )
    var counts: [String: Int64] = [:]
    for row in rows {
        let (subject, count) = try row.decode(String.self, Int64.self)
        counts[subject] = count
    }
    return counts
}
