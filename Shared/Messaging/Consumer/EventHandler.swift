public import EventTypes
public import Postgres

/// Applies the events of other services to a service's own data.
///
/// A handler is called on the thread of a database connection. Its database transaction also holds
/// the consumer's places: either everything is committed or nothing.
public protocol EventHandler: Sendable {
    /// The types of events that the handler applies. Other events are passed over.
    var eventTypes: Set<EventType> { get }

    /// Applies events, in order, with a few statements for all of them.
    ///
    /// - Parameters:
    ///   - events: Events that this consumer has not applied before.
    ///   - connection: The connection with the open database transaction.
    /// - Throws: `PostgresError` if the database is unreachable or busy, or a
    ///   ``RetriableHandlerError``: the events come again. Any other error means that one of the
    ///   events cannot be applied. The consumer then applies them one by one, and dead-letters each
    ///   one that fails alone.
    func apply(_ events: [ReceivedEvent], on connection: isolated PostgresConnection) throws

    /// Called after the commit, to wake the tasks that work on what was written.
    ///
    /// If a crash prevents this call, that work must start later by itself; nothing may be lost.
    func didCommit(_ events: [ReceivedEvent]) async
}

extension EventHandler {
    /// Does nothing.
    public func didCommit(_ events: [ReceivedEvent]) async {}
}

/// An error of a handler that says whether its events are to blame.
///
/// If a retry can help, something other than the events is wrong, such as an expired certificate:
/// the consumer keeps its place, waits, and applies the events again. Otherwise one of the events
/// cannot be applied.
public protocol RetriableHandlerError: Error {
    /// Whether the same events can be applied later.
    var isRetriable: Bool { get }
}
