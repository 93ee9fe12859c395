public import EventTypes
public import Messaging
public import Postgres
import Seals

/// Rebuilds the tables of one service from the event log.
///
/// The rules and the SQL are those of the live service. A rebuilder only adds the way from an event
/// in the log back to the command that led to it.
public protocol Rebuilder: Sendable {
    /// The logs to read, one after the other.
    var sources: [RebuildSource] { get }
    /// The tables to rebuild, and how each is compared with the live one.
    var tables: [RebuiltTable] { get }

    /// The indexes that neither the rebuild nor the comparison uses; they are dropped first.
    var unreadIndexes: [String] { get }

    /// Applies a batch of the service's own events, in the order of the log, in one database
    /// transaction.
    ///
    /// - Parameters:
    ///   - rows: The events.
    ///   - shadow: The database that is being filled.
    /// - Returns: The contradictions: changes that the rules do not derive from the events before.
    /// - Throws: Errors of the database, which end the rebuild. An event whose data cannot be read
    ///   does not end it but is a contradiction (``LogContradiction/reading(_:_:)``).
    func apply(
        _ rows: [OutboxRow],
        on shadow: isolated PostgresConnection
    ) throws -> [LogContradiction]

    /// Applies a batch of another service's events, in the order of its log, as the live consumer
    /// does.
    ///
    /// It has to decode all of them before it changes anything. An event that cannot be read is a
    /// contradiction, and the others are applied.
    ///
    /// - Parameters:
    ///   - events: The events.
    ///   - shadow: The database that is being filled.
    /// - Throws: `DecodingError`, or errors of the database, which end the rebuild.
    func consume(_ events: [ReceivedEvent], on shadow: isolated PostgresConnection) throws
}

extension Rebuilder {
    /// No indexes.
    public var unreadIndexes: [String] { [] }

    /// No events, for a service that reads no other service's log.
    public func consume(
        _ events: [ReceivedEvent],
        on shadow: isolated PostgresConnection
    ) throws {}
}

/// A log from which a service's tables are rebuilt.
public struct RebuildSource: Hashable, Sendable {
    /// The service whose log it is.
    public let service: ServiceName
    /// The types of the events to apply.
    public let types: Set<EventType>
    /// The consumer whose places decide which events count; `nil` for the service's own log, of
    /// which all events count.
    public let consumer: ServiceName?

    /// The service's own log.
    public static func own(_ service: ServiceName, _ types: Set<EventType>) -> RebuildSource {
        RebuildSource(service: service, types: types, consumer: nil)
    }

    /// The log of another service, as far as a consumer has applied it.
    public static func consumed(
        _ service: ServiceName,
        _ types: Set<EventType>,
        by consumer: ServiceName
    ) -> RebuildSource {
        RebuildSource(service: service, types: types, consumer: consumer)
    }
}

/// An event that the rules do not derive from the events before it.
public struct LogContradiction: Hashable, Sendable, Codable {
    /// The place of the event in the log.
    public let position: String
    /// The type of the event.
    public let type: String
    /// The transaction, account or product that the event is about.
    public let subject: String
    /// The reason why it is a contradiction.
    public let reason: String

    /// Makes a contradiction of an event.
    public init(_ row: OutboxRow, _ reason: String) {
        position = row.place.description
        type = row.event.type.rawValue
        subject = row.event.subject
        self.reason = reason
    }

    /// Applies events whose data may have been altered.
    ///
    /// They are applied together, or one by one if one of them cannot be read.
    ///
    /// - Parameters:
    ///   - rows: The events.
    ///   - body: Applies events; it has to decode all of them before it changes anything.
    /// - Returns: A contradiction for each event that cannot be read.
    /// - Throws: Errors of the body other than `DecodingError`.
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
