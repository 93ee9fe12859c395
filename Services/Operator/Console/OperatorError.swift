/// The reason why a command failed, in words for the operator, with its exit code.
struct OperatorError: Error, Hashable, CustomStringConvertible {
    /// The kinds of failure, one for each exit code.
    struct Code: Hashable, Sendable {
        let exitCode: Int32

        /// The store refused, or something failed for good.
        static let failed = Code(exitCode: 1)
        /// The command line or a setting is wrong; the argument parser uses it, too.
        static let usage = Code(exitCode: 64)
        /// A service or database cannot be reached, or says that a later try may succeed.
        static let unavailable = Code(exitCode: 69)
        /// The store works on it; the command stopped waiting.
        static let stillWaiting = Code(exitCode: 75)
        /// Ctrl-C or SIGTERM came; the work done so far stays.
        static let interrupted = Code(exitCode: 130)
        /// A service or database refuses the credentials.
        static let refusedCredentials = Code(exitCode: 77)
    }

    let code: Code
    let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Whether the same command may succeed later.
    var isRetriable: Bool { code == .unavailable || code == .stillWaiting }
}
