import Synchronization

/// The round trips between clients and PostgreSQL, counted by a proxy.
public final class PostgresTally: Sendable {
    /// A database transaction, or a statement outside of one.
    public struct Entry: Sendable {
        /// Its statements, without COMMIT.
        public let statements: [String]
        /// The times that the client waited for the server.
        public let roundTrips: Int
    }

    private let counted = Mutex<[Entry]>([])

    /// The database transactions that have ended and have a statement with this text.
    public func transactions(with text: String) -> [Entry] {
        counted.withLock { $0.filter { $0.statements.contains { $0.contains(text) } } }
    }

    func add(_ statements: [String], _ roundTrips: Int) {
        counted.withLock { $0.append(Entry(statements: statements, roundTrips: roundTrips)) }
    }
}
