import ArgumentParser
import Foundation
import Messaging
import Postgres
import TestSupport
import Testing

@testable import Operator
@testable import OperatorCore

/// The rights of the role `counterfoil_operator`: to read all, and to decide about dead letters.
@Suite(.timeLimit(.minutes(10)))
struct OperatorRoleTests {
    /// Tables of a service's own, from a migration after the spine's.
    private static let own = PostgresMigration(
        name: "m0001_own",
        sql: "CREATE TABLE own (id bigint); CREATE VIEW of_own AS SELECT id FROM own"
    )

    private func withSpine(_ body: (TestDatabase) async throws -> Void) async throws {
        try await withTestDatabase(
            migrations: MessagingMigrations.all(role: "counterfoil_payments") + [Self.own],
            body
        )
    }

    /// Whether the operator's role may run a statement; what it did is undone.
    private func isAllowed(_ sql: SQL, in database: TestDatabase) async throws -> Bool {
        struct Undo: Error {}
        do {
            try await database.withClient(role: PostgresCluster.operatorRole) { client in
                try await client.withTransaction { connection in
                    try connection.execute(sql)
                    throw Undo()
                }
            }
            return true
        } catch is Undo {
            return true
        } catch let error as PostgresError where error.code == .insufficientPrivilege {
            return false
        }
    }

    @Test func readsWhatMigrationsBroughtAndWhatLaterOnesBring() async throws {
        try await withSpine { database in
            let tables = try await database.withClient { client in
                try await client.withConnection { connection in
                    try connection.query(
                        """
                        SELECT oid::regclass::text FROM pg_class
                        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v')
                        """
                    ).map { try $0.decode(String.self) }
                }
            }
            #expect(tables.contains("own") && tables.contains("of_own"))
            #expect(tables.contains("outbox") && tables.contains("dead_letters"))
            for table in tables {
                let isReadable = try await isAllowed(
                    "SELECT FROM \(unsafe: table)",
                    in: database
                )
                #expect(isReadable, "\(table)")
            }
        }
    }

    @Test func itChangesNothingButTheDecisionAboutADeadLetter() async throws {
        try await withSpine { database in
            let tables = ["outbox", "consumer_places", "relay_place", "consumer_positions", "own"]
            let forbidden =
                tables.flatMap { ["DELETE FROM \($0)", "TRUNCATE \($0)"] } + [
                    "UPDATE outbox SET data = '{}'", "UPDATE relay_place SET position = 0",
                    "INSERT INTO own VALUES (1)", "CREATE TABLE mine (id bigint)",
                    "SELECT ensure_outbox_partitions(now(), 1)", "DELETE FROM dead_letters",
                    "UPDATE dead_letters SET data = ''", "UPDATE dead_letters SET reason = ''",
                ]
            for statement in forbidden {
                let isAllowed = try await isAllowed("\(unsafe: statement)", in: database)
                #expect(!isAllowed, "\(statement)")
            }
            let isAllowed = try await isAllowed(
                "UPDATE dead_letters SET redrive_requested_at = now()",
                in: database
            )
            #expect(isAllowed)
        }
    }

    @Test func theDatabaseDiscardsNothingWithoutAReason() async throws {
        try await withSpine { database in
            _ = try await database.withClient { client in
                try await client.withConnection { connection in
                    _ = try connection.execute(
                        """
                        INSERT INTO dead_letters (consumer, event_id, topic, partition, "offset", key,
                            type, subject, time, data, reason, state)
                        VALUES ('payments', gen_random_uuid(), 't', 0, 0, 'ada', 'e', 's', now(), '',
                            'a test', 'dead')
                        """
                    )
                }
            }
            let undecided = [
                "NULL", "'{}'", #"'{"decidedBy": "mia"}'"#,
                #"'{"decidedBy": "mia", "reason": " "}'"#,
                #"'{"reason": "sent by a test"}'"#,
            ]
            for act in undecided {
                let error = await #expect(throws: PostgresError.self) {
                    try await discard(act, in: database)
                }
                #expect(error?.constraint == "discarded_ones_say_why")
            }
            try await discard(
                #"'{"decidedBy": "mia", "reason": "sent by a test"}'"#,
                in: database
            )
        }
    }

    private func discard(_ act: String, in database: TestDatabase) async throws {
        _ = try await database.withClient(role: PostgresCluster.operatorRole) { client in
            try await client.withConnection { connection in
                _ = try connection.execute(
                    """
                    UPDATE dead_letters
                    SET state = 'discarded', settled_at = now(), act = \(unsafe: act)
                    """
                )
            }
        }
    }
}

/// Databases that are away, or that somebody else should be asked for.
@Suite(.timeLimit(.minutes(10)))
struct DatabaseReaderTests {
    private func address(_ url: String) throws -> DatabaseAddress {
        try DatabaseOptions.parse(["--payments-database-url", url]).address(of: .payments, [:])
    }

    private func failure(at url: String, _ sql: SQL = "SELECT 1") async throws -> OperatorError? {
        let address = try address(url)
        return await #expect(throws: OperatorError.self) {
            try await DatabaseReader.read(address) { connection in
                _ = try connection.query(sql)
            }
        }
    }

    @Test func whatIsWrongSaysWhichDatabaseAndWhichSetting() async throws {
        let away = try await failure(
            at: "postgresql://me:geheim@127.0.0.1:\(try freePort())/payments"
        )
        #expect(away?.code == .unavailable)
        let text = try #require(away?.description)
        #expect(text.contains("payments") && text.contains("COUNTERFOIL_PAYMENTS_DATABASE_URL"))
        #expect(!text.contains("geheim"))

        #expect(try await failure(at: "postgresql://[")?.code == .usage)

        let cluster = try await PostgresCluster.shared()
        let stranger = try await failure(at: cluster.url(database: "postgres", role: "stranger"))
        #expect(stranger?.code == .refusedCredentials)
    }

    @Test func anOlderOrForeignSchemaSaysWhatToRun() async throws {
        try await withTestDatabase { database in
            let url = database.url(role: PostgresCluster.operatorRole)
            let old = try await failure(at: url, "SELECT 1 FROM transactions")
            #expect(old?.code == .failed)
            #expect(old?.description.contains("'payments migrate'") == true)
        }
    }

    @Test func whatReadsCannotChange() async throws {
        try await withTestDatabase { database in
            let error = try await failure(at: database.url, "CREATE TABLE mine (id bigint)")
            #expect(error?.code == .unavailable)
        }
    }

    @Test func noStatementTakesLongerThanThirtySeconds() async throws {
        try await withTestDatabase { database in
            let place = try address(database.url(role: PostgresCluster.operatorRole))
            let limit = try await DatabaseReader.read(place) { connection in
                try connection.query("SELECT current_setting('statement_timeout')").first?
                    .decode(String.self)
            }
            #expect(limit == "30s")
        }
    }

    @Test func theOptionWinsOverTheVariableAndTheVariableOverTheDefault() throws {
        let variables = ["COUNTERFOIL_PAYMENTS_DATABASE_URL": "postgresql://there/p"]
        let options = try DatabaseOptions.parse(["--payments-database-url", "postgresql://here/p"])
        #expect(options.address(of: .payments, variables).place == "here/p")
        let none = try DatabaseOptions.parse([])
        #expect(none.address(of: .payments, variables).place == "there/p")
        #expect(none.address(of: .receipts, variables).place == "127.0.0.1:5432/receipts")
    }

    // MARK: - The console's role

    /// Whether the reader's role may run a statement, in a database whose owner gives it what
    /// deploy/postgres/init.sql says.
    private func readerIsAllowed(_ sql: SQL, in database: TestDatabase) async throws -> Bool {
        do {
            try await database.withClient(role: PostgresCluster.readerRole) { client in
                _ = try await client.withConnection { try $0.query(sql) }
            }
            return true
        } catch let error as PostgresError where error.code == .insufficientPrivilege {
            return false
        }
    }

    @Test func theReaderReadsEveryTableAndDecidesNothing() async throws {
        let path = SourceTree.path("deploy/postgres/init.sql")
        let rights = try String(contentsOfFile: path, encoding: .utf8)
            .matches(of: /ALTER DEFAULT PRIVILEGES FOR ROLE counterfoil_owner ([^;]+);/)
            .map { String($0.1) }
        #expect(rights.count == 8, "two rights in each of four databases")
        let given = PostgresMigration(
            name: "init",
            sql: Set(rights).map { "ALTER DEFAULT PRIVILEGES \($0);" }.joined(separator: "\n")
        )
        try await withTestDatabase(
            migrations: [given] + MessagingMigrations.all(role: "counterfoil_payments")
        ) { database in
            for table in ["outbox", "dead_letters", "consumer_places"] {
                let isReadable = try await readerIsAllowed(
                    "SELECT FROM \(unsafe: table)",
                    in: database
                )
                #expect(isReadable, "\(table)")
            }
            for statement in [
                "DELETE FROM outbox", "UPDATE outbox SET data = '{}'",
                "UPDATE dead_letters SET state = 'discarded'", "UPDATE dead_letters SET act = '{}'",
                "CREATE TABLE mine (id bigint)", "SELECT ensure_outbox_partitions(now(), 1)",
            ] {
                let isAllowed = try await readerIsAllowed("\(unsafe: statement)", in: database)
                #expect(!isAllowed, "\(statement)")
            }
        }
    }
}
