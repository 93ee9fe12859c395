/// A failure of messaging itself.
///
/// Errors of the database and the broker are `PostgresError` and `KafkaError`.
public struct MessagingError: Error, CustomStringConvertible, Sendable {
    /// The kinds of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind.
        public let description: String
        /// The database lacks a table that messaging needs.
        public static let notMigrated = Code(description: "notMigrated")
        /// The database's transaction ids are lower than those in the outbox, as after restoring a
        /// dump into a new cluster.
        public static let outboxAheadOfDatabase = Code(description: "outboxAheadOfDatabase")
        /// Another process has taken over the lead.
        public static let leadLost = Code(description: "leadLost")
        /// The store's clock has not been read yet.
        public static let clockUnknown = Code(description: "clockUnknown")
        /// A Kafka message is not an event of a store.
        public static let notAnEvent = Code(description: "notAnEvent")
    }

    /// The kind of failure.
    public let code: Code
    /// The problem and its remedy.
    public let message: String
    /// Whether a retry can help without any other action.
    public let isRetriable: Bool

    init(_ code: Code, _ message: String, isRetriable: Bool = false) {
        self.code = code
        self.message = message
        self.isRetriable = isRetriable
    }

    /// A description of the failure, without any payload.
    public var description: String { "\(code): \(message)" }
}
