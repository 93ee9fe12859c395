import EventTypes
import Postgres
import StoreAPI

/// The sessions with the three databases that hold books of purchases.
struct ReconcileReader {
    let payments: PostgresConnection
    private let receipts: PostgresConnection
    private let fulfillment: PostgresConnection

    /// The number of accounts that are compared at a time.
    private static let accountPage = 2_000

    init(
        _ payments: PostgresConnection,
        _ receipts: PostgresConnection,
        _ fulfillment: PostgresConnection
    ) {
        self.payments = payments
        self.receipts = receipts
        self.fulfillment = fulfillment
    }

    /// The session with a service's database; `catalog` has no books of purchases.
    func connection(to service: OperatedService) -> PostgresConnection {
        switch service {
        case .catalog, .payments: payments
        case .receipts: receipts
        case .fulfillment: fulfillment
        }
    }

    /// The id from which on transactions were requested at or after a moment: one behind the last if
    /// all are older; `nil` if there is no transaction at all.
    func firstID(since time: StoreTime) async throws -> Int64? {
        try await payments.run { try ReconcileStore.firstID(since: time, on: $0) }
    }

    /// Reads the ids in a range from the other books, whether or not `payments` knows them.
    ///
    /// If a range has a thousand more ids than `payments` knows, only those are reported; the rest
    /// shows once they are fixed.
    func ids(in range: ClosedRange<Int64>, limit: Int) async throws -> Set<Int64> {
        let limit = limit + 1_000
        let postings = try await payments.run {
            try ReconcileStore.ids(in: range, of: .postings, limit: limit, on: $0)
        }
        let receipts = try await receipts.run {
            try ReconcileStore.ids(in: range, of: .receipts, limit: limit, on: $0)
        }
        let queue = try await fulfillment.run {
            try ReconcileStore.ids(in: range, of: .queue, limit: limit, on: $0)
        }
        return Set(postings).union(receipts).union(queue)
    }

    /// Reads transactions from all books, `payments` first, so that its events have had time to
    /// arrive.
    func read(_ ids: Set<Int64>) async throws -> [TransactionBooks] {
        guard !ids.isEmpty else { return [] }
        var books: [Int64: TransactionBooks] = [:]
        for id in ids { books[id] = TransactionBooks(id: TransactionID(number: id)) }
        books = try await payments.run { [books] connection in
            var books = books
            try ReconcileStore.readPayments(into: &books, on: connection)
            return books
        }
        books = try await receipts.run { [books] connection in
            var books = books
            try ReconcileStore.readReceipts(into: &books, on: connection)
            return books
        }
        books = try await fulfillment.run { [books] connection in
            var books = books
            try ReconcileStore.readQueue(into: &books, on: connection)
            return books
        }
        return Array(books.values)
    }

    /// Goes through all accounts of a table, together with the other service's rows of the same
    /// accounts, which are read later.
    func forEachVersion(
        _ table: ReconcileLogStore.AccountTable,
        _ body: (
            _ versions: [(key: ReconcileLogStore.AccountKey, version: Int32)],
            _ others: [ReconcileLogStore.AccountKey: Int32]
        ) async throws -> Void
    ) async throws {
        let (first, second) = table == .known ? (payments, fulfillment) : (fulfillment, payments)
        var last: ReconcileLogStore.AccountKey?
        while true {
            let after = last
            let versions = try await first.run {
                try ReconcileLogStore.versions(
                    table,
                    after: after,
                    limit: Self.accountPage,
                    on: $0
                )
            }
            let keys = versions.map(\.key)
            let others = try await second.run {
                try ReconcileLogStore.versions(
                    table == .known ? .sent : .known,
                    of: keys,
                    on: $0
                )
            }
            try await body(versions, others)
            guard versions.count == Self.accountPage else { return }
            last = keys.last
        }
    }

    /// Whether `payments` has published a change of an account since a moment.
    func hasChanged(
        _ key: ReconcileLogStore.AccountKey,
        since time: StoreTime
    ) async throws -> Bool {
        try await payments.run {
            try ReconcileLogStore.hasChanged(key, since: time, on: $0)
        }
    }
}

extension PostgresConnection {
    /// Runs a body in its own database transaction, whose settings end with it.
    func reading<R: Sendable>(
        _ body: @Sendable (isolated PostgresConnection) throws -> R
    ) async throws -> R {
        try execute("BEGIN READ ONLY")
        let result = try run(body)
        try execute("ROLLBACK")
        return result
    }
}
