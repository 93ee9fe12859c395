/// A file of events that cannot be used; what the database reports comes as `PostgresError`.
public struct ArchiveError: Error, CustomStringConvertible, Sendable {
    /// The kinds of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind.
        public let description: String
        /// A file of events is not there, not whole, or cannot be written.
        public static let eventFile = Code(description: "eventFile")
        /// A month of the log is in an archive that was not given, or that is another one.
        public static let archiveMissing = Code(description: "archiveMissing")
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong and what to do.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The failure in words, without any payload.
    public var description: String { "\(code): \(message)" }
}
