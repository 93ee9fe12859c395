/// An unusable file of events.
///
/// Errors of the database are `PostgresError`.
public struct ArchiveError: Error, CustomStringConvertible, Sendable {
    /// The kinds of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind.
        public let description: String
        /// A file of events is missing, incomplete, or cannot be written.
        public static let eventFile = Code(description: "eventFile")
        /// The archive of a month of the log was not given, or the given one is another one.
        public static let archiveMissing = Code(description: "archiveMissing")
    }

    /// The kind of failure.
    public let code: Code
    /// The problem and its remedy.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// A description of the failure, without any payload.
    public var description: String { "\(code): \(message)" }
}
