import EventTypes
import Ledger
import Postgres
import StoreAPI
import TestSupport
import Testing

@testable import Payments

@Suite(.timeLimit(.minutes(10))) struct GrantTests {
    static let forbidden: [SQL] = [
        "UPDATE ledger_postings SET number = 2", "DELETE FROM ledger_postings",
        "UPDATE outbox SET type = ''", "DELETE FROM outbox", "DELETE FROM transactions",
        "UPDATE transactions SET account_id = 'bob'", "UPDATE transactions SET currency = 'EUR'",
        "DELETE FROM processor_attempts", "UPDATE processor_attempts SET amount = 1",
        "UPDATE transactions SET fingerprint = ''", "DELETE FROM restores",
        "DELETE FROM ownerships", "DELETE FROM sandbox_processor.charges",
        "UPDATE sandbox_processor.charges SET amount = 1", "TRUNCATE transactions",
        "CREATE TABLE mine (id integer)", "DELETE FROM accounts",
        "UPDATE accounts SET account_id = 'bob'", "DELETE FROM purchase_intents",
        "UPDATE purchase_intents SET product_id = 'film'",
        "UPDATE resumptions SET transaction_id = 1",
        "UPDATE processor_attempts SET act = NULL",
        "DELETE FROM resumptions", "DELETE FROM processor_balances",
        "UPDATE processor_balances SET opening = 0",
    ]

    @Test func theServicesRoleCanDoOnlyWhatTheServiceDoes() async throws {
        try await withStore { store in
            for statement in Self.forbidden {
                let error = await #expect(throws: PostgresError.self) {
                    try await store.client.withConnection { try $0.execute(statement) }
                }
                #expect(error?.code == .insufficientPrivilege, "\(statement.text)")
            }
        }
    }
}
