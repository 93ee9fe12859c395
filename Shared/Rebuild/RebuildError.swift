/// An error that ends a rebuild.
public struct RebuildError: Error, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: Sendable {
        /// The log of a service that the tables depend on cannot be read.
        case logMissing
    }

    /// The kind of error.
    public let code: Code
    /// The error in words.
    public let description: String

    /// Makes an error.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
