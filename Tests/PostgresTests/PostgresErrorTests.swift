import Postgres
import TestSupport
import Testing

/// The server's refusals are reported by code, and never with the values involved.
@Suite(.timeLimit(.minutes(10))) struct PostgresErrorTests {
    private static let tables = PostgresMigration(
        name: "m0001_parents",
        sql: """
            CREATE TABLE parents (
                id bigint CONSTRAINT parents_have_one_id PRIMARY KEY,
                name text NOT NULL,
                amount bigint CONSTRAINT amounts_are_positive CHECK (amount > 0),
                period int4range, EXCLUDE USING gist (period WITH &&)
            );
            CREATE TABLE children (
                parent bigint CONSTRAINT children_have_parents REFERENCES parents (id)
            );
            CREATE FUNCTION refuse() RETURNS void LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'the secret is %', 'secret-7391'; END $$;
            INSERT INTO parents VALUES (7391, 'secret-7391', 7391, '[1,5)');
            GRANT SELECT ON parents TO counterfoil_catalog;
            """
    )

    private func failure(
        of sql: SQL,
        as role: String? = nil
    ) async throws -> PostgresError {
        try await withTestDatabase(migrations: [Self.tables]) { database async throws in
            try await database.withClient(role: role, poolSize: 1) { client async throws in
                let error = await #expect(throws: PostgresError.self) {
                    try await client.withTransaction { connection in
                        try connection.execute(sql)
                    }
                }
                return try #require(error)
            }
        }
    }

    private static let id: Int64 = 7391
    private static let secret = "secret-7391"

    /// A statement that the server refuses, and the expected error.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let sql: SQL
        let sqlState: String
        let code: PostgresError.Code
        var constraint: String?

        var testDescription: String { "\(sqlState) \(code)" }
    }

    static let refusals: [Refusal] = [
        Refusal(
            sql: "INSERT INTO parents VALUES (\(id), \(secret), 1)",
            sqlState: "23505",
            code: .uniqueViolation,
            constraint: "parents_have_one_id"
        ),
        Refusal(
            sql: "INSERT INTO children VALUES (\(id * 10))",
            sqlState: "23503",
            code: .foreignKeyViolation,
            constraint: "children_have_parents"
        ),
        Refusal(
            sql: "INSERT INTO parents VALUES (8, \(secret), \(-id))",
            sqlState: "23514",
            code: .checkViolation,
            constraint: "amounts_are_positive"
        ),
        Refusal(
            sql: "INSERT INTO parents VALUES (\(id), NULL)",
            sqlState: "23502",
            code: .notNullViolation
        ),
        Refusal(
            sql: "INSERT INTO parents VALUES (9, \(secret), 1, '[2,3)')",
            sqlState: "23P01",
            code: .exclusionViolation,
            constraint: "parents_period_excl"
        ),
        Refusal(sql: "SELECT \(secret)::bigint", sqlState: "22P02", code: .invalidData),
        Refusal(sql: "SELECT 1 / (\(id) - 7391)", sqlState: "22012", code: .invalidData),
        Refusal(sql: "SELECT refuse()", sqlState: "P0001", code: .server),
        Refusal(
            sql: "SELECT no_such_column FROM parents WHERE id = \(id)",
            sqlState: "42703",
            code: .server
        ),
        Refusal(sql: "SELEC \(id)", sqlState: "42601", code: .server),
    ]

    @Test(arguments: refusals)
    func aRefusalIsDescribedByItsCodeWithoutValues(_ refusal: Refusal) async throws {
        let error = try await failure(of: refusal.sql)
        #expect(error.code == refusal.code)
        #expect(error.sqlState == refusal.sqlState)
        #expect(error.constraint == refusal.constraint)
        #expect(!error.isRetriable)
        #expect(!"\(error)".contains("7391"))
        #expect(!String(reflecting: error).contains("7391"))
    }

    @Test func aRoleMayDoOnlyWhatItWasGranted() async throws {
        let error = try await failure(
            of: "DELETE FROM parents",
            as: "counterfoil_catalog"
        )
        #expect(error.code == .insufficientPrivilege)
        #expect(!error.isRetriable)
        let other = try await failure(of: "SELECT * FROM children", as: "counterfoil_catalog")
        #expect(other.code == .insufficientPrivilege)
    }

    @Test func whatMayPassByItselfIsRetriable() {
        let retriable: [PostgresError.Code] = [
            .connectionLost, .connectFailed, .poolExhausted, .statementTimeout, .lockTimeout,
            .serializationFailure, .deadlock, .readOnly, .serverBusy,
        ]
        for code in retriable {
            #expect(PostgresError(code, "").isRetriable, "\(code)")
        }
        for code in [.commitOutcomeUnknown, .decoding, .databaseIsNewer] as [PostgresError.Code] {
            #expect(!PostgresError(code, "").isRetriable, "\(code)")
        }
    }

    @Test func copyOutsideItsMethodIsRefusedAndTheConnectionGoesOn() async throws {
        try await withTestDatabase(migrations: [Self.tables]) { database async throws in
            try await database.withClient(poolSize: 1) { client async throws in
                for command in ["COPY parents FROM STDIN", "COPY parents TO STDOUT"] {
                    await #expect(throws: PostgresError.self) {
                        try await client.withConnection { connection in
                            try connection.execute("\(unsafe: command)")
                        }
                    }
                }
                let count = try await client.withConnection { connection in
                    try connection.query("SELECT count(*) FROM parents")[0].decode(Int64.self)
                }
                #expect(count == 1)
            }
        }
    }
}
