import EventTypes
import Ledger
import Logging
import Messaging
import Postgres
import Seals
import Testing
import TestSupport

/// The hash chain of the money ledger.
@Suite(.timeLimit(.minutes(10))) struct SealedLedgerTests {
    private func posting(_ transaction: Int64) -> Posting {
        LedgerStoreTests().posting(transaction, transaction)
    }

    /// A ledger of 30 postings that the service's own sealer has sealed.
    private func withSealedLedger(
        _ body: (TestDatabase) async throws -> Void
    ) async throws {
        try await withTestDatabase(migrations: LedgerStoreTests.migrations) { database in
            let role = LedgerStoreTests.role
            try await database.withClient(role: role, poolSize: 3) { client in
                for first in stride(from: Int64(1), to: 30, by: 10) {
                    try await client.withTransaction { connection in
                        try LedgerStore.append(
                            (first..<(first + 10)).map { posting($0) },
                            on: connection
                        )
                    }
                }
                let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
                let sealing = Task { await LogSealer(.ledger, client: client, logger: quiet).run() }
                // Database transactions of other tests in the cluster hold the rows back a while.
                try await eventually("the postings to be sealed") {
                    try await report(database).months.reduce(0) { $0 + $1.rows } == 30 ? true : nil
                }
                sealing.cancel()
                await sealing.value
            }
            try await body(database)
        }
    }

    private func report(_ database: TestDatabase) async throws -> SealReport {
        try await database.withClient(role: PostgresCluster.operatorRole) { client in
            try await client.withConnection { try SealCheck(logs: [.ledger]).run(on: $0) }
        }
    }

    private func tamper(_ statement: String, in database: TestDatabase) async throws {
        try await database.withClient { client in
            try await client.withTransaction { connection in
                // What whoever owns the tables can do.
                try connection.execute("ALTER TABLE ledger_postings DISABLE TRIGGER USER")
                for constraint in ["entries_balance_to_zero", "entry_has_account_and_amount"] {
                    try connection.execute(
                        "ALTER TABLE ledger_postings DROP CONSTRAINT \(unsafe: constraint)"
                    )
                }
                try connection.execute("\(unsafe: statement)")
            }
        }
    }

    @Test func aLedgerThatNobodyHasTouchedIsFoundRight() async throws {
        try await withSealedLedger { database in
            let report = try await report(database)
            #expect(report.findings == [])
            #expect(report.months.map(\.log) == ["ledger"])
            #expect(report.months.map(\.month.description) == ["2027-01"])
        }
    }

    @Test(arguments: [
        "UPDATE ledger_postings SET kind = 'refund' WHERE transaction_id = 7",
        "UPDATE ledger_postings SET transaction_id = 77 WHERE transaction_id = 7",
        "UPDATE ledger_postings SET posted_at = posted_at + interval '1 us' WHERE transaction_id = 7",
        "UPDATE ledger_postings SET number = 2 WHERE transaction_id = 7",
        "UPDATE ledger_postings SET amounts = ARRAY[-14, 14] WHERE transaction_id = 7",
        "UPDATE ledger_postings SET amounts[2] = 6 WHERE transaction_id = 7",
        "UPDATE ledger_postings SET accounts[1] = 'buyer:mallory' WHERE transaction_id = 7",
        "UPDATE ledger_postings SET currency = 'EUR' WHERE transaction_id = 7",
        "UPDATE ledger_postings SET accounts = accounts[2:2] WHERE transaction_id = 7",
        "UPDATE ledger_postings SET amounts = amounts || 1::bigint WHERE transaction_id = 7",
    ])
    func aPostingThatWasEditedIsNamed(_ statement: String) async throws {
        try await withSealedLedger { database in
            try await tamper(statement, in: database)
            let findings = try await report(database).findings
            try #require(findings.count == 1, "\(findings)")
            #expect(findings[0].kind == .editedRow)
            #expect(findings[0].place?.position == 7)
        }
    }

    @Test func aPostingThatIsGoneIsPlaced() async throws {
        try await withSealedLedger { database in
            try await tamper(
                "DELETE FROM ledger_postings WHERE transaction_id IN (7, 8)",
                in: database
            )
            let findings = try await report(database).findings
            #expect(findings.map(\.kind) == [.missingRows])
            #expect(findings.map(\.count) == [2])
            #expect(findings.first?.place?.position == 6)
        }
    }
}
