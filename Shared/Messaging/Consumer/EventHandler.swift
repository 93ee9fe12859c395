public import EventTypes
public import Postgres

/// What a service does about the events of other services.
///
/// A handler is called on the thread of a database connection, inside the database transaction that
/// also holds the inbox rows of the same events: either all of it happens or none.
public protocol EventHandler: Sendable {
    /// The kinds of events acted on; others pass by without an inbox row.
    var eventTypes: Set<EventType> { get }

    /// Applies events, in order, with a few statements for all of them.
    ///
    /// - Parameters:
    ///   - events: Events that this consumer has not done before.
    ///   - connection: The connection with the open database transaction.
    /// - Throws: `PostgresError` of a database that is away or busy, or a ``RetriableHandlerError``:
    ///   the events come again.
    ///   Anything else says that one of the events cannot be applied: the consumer then applies them
    ///   one by one, and the one that fails alone goes to the dead letters.
    func apply(_ events: [ReceivedEvent], on connection: isolated PostgresConnection) throws

    /// Called after the commit, to wake whoever works on what was written. Losing this call to a
    /// crash must lose nothing but time.
    func didCommit(_ events: [ReceivedEvent]) async
}

extension EventHandler {
    /// Does nothing.
    public func didCommit(_ events: [ReceivedEvent]) async {}
}

/// An error of a handler that knows whether its events are to blame.
///
/// Where a retry can help, something around the events is wrong (a certificate has expired): the
/// consumer keeps its place, waits and applies them again. Otherwise it is one of the events.
public protocol RetriableHandlerError: Error {
    /// Whether the same events can be applied later.
    var isRetriable: Bool { get }
}
