public import EventTypes
public import Messaging
public import Postgres
import Seals

/// How one service's books are made again from the event log.
///
/// The rules and the SQL are those that run live; what is its own is only the way from a fact in
/// the log back to the command that it came of.
public protocol Rebuilder: Sendable {
    /// Which logs are read, one after the other.
    var sources: [RebuildSource] { get }
    /// Which tables are made again, and how each compares with the live one.
    var tables: [RebuiltTable] { get }

    /// Indexes that neither the rebuild nor the comparison reads by; they are not kept up.
    var unreadIndexes: [String] { get }

    /// Applies a batch of a log's events, in the order of the log, in one database transaction.
    ///
    /// - Parameters:
    ///   - rows: The events.
    ///   - source: Whose log they are of.
    ///   - shadow: The database that is being filled.
    /// - Returns: What the log itself does not account for: a change that the rules do not make of
    ///   the one before.
    /// - Throws: What the database throws; the rebuild then ends. An event whose data cannot be read
    ///   ends nothing: it is a contradiction (``LogContradiction/reading(_:_:)``).
    func apply(
        _ rows: [OutboxRow],
        of source: RebuildSource,
        on shadow: isolated PostgresConnection
    ) throws -> [LogContradiction]
}

extension Rebuilder {
    /// None.
    public var unreadIndexes: [String] { [] }
}

/// A log that a service's books come from.
public struct RebuildSource: Hashable, Sendable {
    /// The service whose log it is.
    public let service: String
    /// The events that matter.
    public let types: Set<EventType>
    /// The consumer's group, where the events count only once it has done them; `nil` for the
    /// service's own log, which counts as a whole.
    public let consumer: String?

    /// The service's own log.
    public static func own(_ service: String, _ types: Set<EventType>) -> RebuildSource {
        RebuildSource(service: service, types: types, consumer: nil)
    }

    /// The log of another service, as far as a consumer has done it.
    public static func consumed(
        _ service: String,
        _ types: Set<EventType>,
        by consumer: String
    ) -> RebuildSource {
        RebuildSource(service: service, types: types, consumer: consumer)
    }
}

/// An event that the rules do not make of what came before it.
public struct LogContradiction: Hashable, Sendable, Codable {
    /// Where it stands in the log.
    public let position: String
    /// The kind of event.
    public let type: String
    /// The transaction, account or product it is about.
    public let subject: String
    /// What is wrong with it.
    public let reason: String

    /// Names an event.
    public init(_ row: OutboxRow, _ reason: String) {
        position = row.cursor.description
        type = row.event.type.rawValue
        subject = row.event.subject
        self.reason = reason
    }

    /// Applies events, whose data somebody may have altered: together, or one by one if one of them
    /// cannot be read.
    ///
    /// - Parameters:
    ///   - rows: The events.
    ///   - body: Applies some of them; it reads all of them before it does anything.
    /// - Returns: Those that cannot be read.
    /// - Throws: What the body throws beside `DecodingError`.
    public static func reading(
        _ rows: [OutboxRow],
        _ body: ([OutboxRow]) throws -> Void
    ) rethrows -> [LogContradiction] {
        do {
            try body(rows)
            return []
        } catch is DecodingError {
            guard rows.count == 1 else { return try rows.flatMap { try reading([$0], body) } }
            return [LogContradiction(rows[0], "its data is not what its type says")]
        }
    }
}
