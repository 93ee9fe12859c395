/// Why a rebuild could not go on.
public struct RebuildError: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    public enum Code: Sendable {
        /// The log of a service that the books depend on cannot be read.
        case logMissing
    }

    /// What went wrong.
    public let code: Code
    /// What it was, in words.
    public let description: String

    /// Makes an error.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
