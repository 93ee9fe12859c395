/// A failure of the spine itself; what the database or the broker report comes as `PostgresError`
/// and `KafkaError`.
public struct MessagingError: Error, CustomStringConvertible, Sendable {
    /// The kinds of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind.
        public let description: String
        /// The database lacks a table of the spine.
        public static let notMigrated = Code(description: "notMigrated")
        /// The database counts its transactions from lower than the outbox has seen, as after
        /// restoring a dump into a new cluster.
        public static let outboxAheadOfDatabase = Code(description: "outboxAheadOfDatabase")
        /// Another process has taken over the lead.
        public static let leadLost = Code(description: "leadLost")
        /// A message of the broker is no event of a store.
        public static let notAnEvent = Code(description: "notAnEvent")
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong and what to do.
    public let message: String
    /// Whether trying again, with nothing else done, can help.
    public let isRetriable: Bool

    init(_ code: Code, _ message: String, isRetriable: Bool = false) {
        self.code = code
        self.message = message
        self.isRetriable = isRetriable
    }

    /// The failure in words, without any payload.
    public var description: String { "\(code): \(message)" }
}
