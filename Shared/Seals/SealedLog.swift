public import Postgres

/// A sealed log of a service's database: an insert-only table whose rows have places in commit
/// order.
public struct SealedLog: Sendable {
    /// The log's name in `log_seals`.
    public let name: String
    /// Whether its reader also reads the archived months.
    let includesArchives: Bool
    private let read: Reading
    private let readEnd: End?

    /// Reads the settled rows after a place, in the order of their places, up to a limit.
    public typealias Reading =
        @Sendable (LogPlace, Int, isolated PostgresConnection) throws -> [SealedRow]

    /// Reads the stored place that the log must at least reach.
    package typealias End = @Sendable (isolated PostgresConnection) throws -> LogPlace

    /// Makes a log.
    ///
    /// - Parameters:
    ///   - name: The log's name in `log_seals`.
    ///   - read: Reads the log's rows. No later commit may add a row before or between those it
    ///     returns.
    public init(name: String, read: @escaping Reading) {
        self.init(name: name, includesArchives: false, end: nil, read: read)
    }

    /// Makes a log that is published, or whose months may be archived.
    ///
    /// - Parameters:
    ///   - name: The log's name in `log_seals`.
    ///   - includesArchives: Whether `read` also reads the archived months.
    ///   - end: Reads the place up to which the log is published; `nil` if it is not published.
    ///   - read: Reads the log's rows.
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
        after place: LogPlace,
        limit: Int,
        on connection: isolated PostgresConnection
    ) throws -> [SealedRow] {
        try read(place, limit, connection)
    }

    /// The place up to which the log is published; `nil` for a log that is not.
    func published(on connection: isolated PostgresConnection) throws -> LogPlace? {
        try readEnd?(connection)
    }
}
