/// The reason why a command failed, in words for the operator, with its exit code.
package struct OperatorError: Error, Hashable, CustomStringConvertible {
    /// The kinds of failure, one for each exit code.
    package struct Code: Hashable, Sendable {
        package let exitCode: Int32

        /// The store refused, or something failed for good.
        package static let failed = Code(exitCode: 1)
        /// The command line or a setting is wrong; the argument parser uses it, too.
        package static let usage = Code(exitCode: 64)
        /// A service or database cannot be reached, or says that a later try may succeed.
        package static let unavailable = Code(exitCode: 69)
        /// The store works on it; the command stopped waiting.
        package static let stillWaiting = Code(exitCode: 75)
        /// Ctrl-C or SIGTERM came; the work done so far stays.
        package static let interrupted = Code(exitCode: 130)
        /// A service or database refuses the credentials.
        package static let refusedCredentials = Code(exitCode: 77)
    }

    package let code: Code
    package let description: String
    /// The HTTP status with which a service refused; `nil` if no service did.
    package let status: Int?
    /// The code of the problem that the service names, such as `price_in_use`; `nil` if it names none.
    package let problemCode: String?

    package init(
        _ code: Code,
        _ description: String,
        status: Int? = nil,
        problemCode: String? = nil
    ) {
        self.code = code
        self.description = description
        self.status = status
        self.problemCode = problemCode
    }

    /// Whether the same command may succeed later.
    package var isRetriable: Bool { code == .unavailable || code == .stillWaiting }
}
