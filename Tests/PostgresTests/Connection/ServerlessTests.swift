import Testing

@testable import Postgres

/// The parts that need no server: the statement cache, the backoff, the text of statements, and the
/// check of URLs.
@Suite struct ServerlessTests {
    private func key(_ text: String, _ types: [UInt32] = []) -> StatementCache.Key {
        StatementCache.Key(text: text, types: types)
    }

    @Test func theStatementUsedLeastRecentlyGoesFirst() {
        var cache = StatementCache(capacity: 2)
        #expect(cache.insert(key("a"), name: "s1") == nil)
        #expect(cache.insert(key("b"), name: "s2") == nil)
        #expect(cache.name(of: key("a")) == "s1")
        #expect(cache.insert(key("c"), name: "s3") == "s2")
        #expect(cache.name(of: key("b")) == nil)
        #expect(cache.name(of: key("a")) == "s1")
        #expect(cache.count == 2)
    }

    @Test func theSameTextWithOtherTypesIsAnotherStatement() {
        var cache = StatementCache(capacity: 2)
        _ = cache.insert(key("a", [20]), name: "s1")
        #expect(cache.name(of: key("a", [25])) == nil)
        cache.remove(key("a", [20]))
        #expect(cache.count == 0)
    }

    @Test func namesAreNeverUsedTwice() {
        var cache = StatementCache(capacity: 1)
        #expect(cache.makeName() != cache.makeName())
    }

    @Test func theWaitDoublesUpToItsBound() {
        let backoff = Backoff(first: .milliseconds(50), longest: .seconds(2))
        let delays = (0...8).map { backoff.delay(afterFailures: $0, jitter: 1) }
        #expect(
            delays
                == [0, 50, 100, 200, 400, 800, 1600, 2000, 2000].map { .milliseconds($0) }
        )
        #expect(backoff.delay(afterFailures: 1000, jitter: 0) == .seconds(1))
    }

    @Test func anInterpolatedValueBecomesAParameter() {
        let injected = "'; DROP TABLE products; --"
        let sql: SQL = "SELECT \(Int64(5)), \(injected), \(nil as Bool?) FROM \(unsafe: "t")"
        #expect(sql.text == "SELECT $1, $2, $3 FROM t")
        #expect(sql.types == [20, 25, 16])
        #expect(sql.parameters.map(\.count) == [8, injected.utf8.count, -1])
    }

    @Test func namesAreQuoted() {
        #expect(SQL.quoted("audit.we\"ird") == "\"audit\".\"we\"\"ird\"")
    }

    @Test func aURLThatCannotBeReadIsRefusedWithoutQuotingIt() throws {
        let settings = PostgresSettings(
            url: "postgres://user:secret@host:port:1/x?y",
            applicationName: "tests"
        )
        let error = try #require(throws: PostgresError.self) { try settings.validate() }
        #expect(error.code == .configuration)
        #expect(!"\(error)".contains("secret"))
        #expect(!error.isRetriable)
    }
}
