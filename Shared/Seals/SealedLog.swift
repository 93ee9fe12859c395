public import Postgres

/// A log of a service's database that is sealed: an insert-only table whose rows have places in
/// commit order.
public struct SealedLog: Sendable {
    /// Its name in `log_seals`.
    public let name: String
    /// Whether what it reads has the months that are in files.
    let includesArchives: Bool
    private let read: Reading
    private let readEnd: End?

    /// Reads the settled rows after a place, in the order of their places, at most as many as the
    /// limit says.
    public typealias Reading =
        @Sendable (OutboxCursor, Int, isolated PostgresConnection) throws -> [SealedRow]

    /// Reads how far a log goes at least, from where that is kept beside it.
    package typealias End = @Sendable (isolated PostgresConnection) throws -> OutboxCursor

    /// Makes a log.
    ///
    /// - Parameters:
    ///   - name: Its name in `log_seals`.
    ///   - read: Reads its rows. What it returns is a prefix of what is there, which no later commit
    ///     adds to.
    public init(name: String, read: @escaping Reading) {
        self.init(name: name, includesArchives: false, end: nil, read: read)
    }

    /// Makes a log that is published, or whose months may leave for files.
    ///
    /// - Parameters:
    ///   - name: Its name in `log_seals`.
    ///   - includesArchives: Whether what it reads has the months that are in files.
    ///   - end: Reads up to where it was published; `nil` if it is not.
    ///   - read: Reads its rows.
    package init(
        name: String,
        includesArchives: Bool,
        end: End?,
        read: @escaping Reading
    ) {
        self.name = name
        self.includesArchives = includesArchives
        self.readEnd = end
        self.read = read
    }

    /// Reads the settled rows after a place.
    package func rows(
        after cursor: OutboxCursor,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [SealedRow] {
        try read(cursor, limit, connection)
    }

    /// Up to where it was published; `nil` for a log that is not.
    func published(on connection: isolated PostgresConnection) throws -> OutboxCursor? {
        try readEnd?(connection)
    }
}
