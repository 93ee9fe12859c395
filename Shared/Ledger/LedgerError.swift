/// Why the ledger did not take a posting.
///
/// Both are bugs of the caller or of a rule; the database refused, so nothing was written.
public struct LedgerError: Error, Sendable, CustomStringConvertible {
    /// The kinds of refusal.
    public struct Code: Hashable, Sendable {
        private enum Value { case alreadyPosted, unbalanced }
        private let value: Value

        /// The transaction has a posting of this kind already.
        public static let alreadyPosted = Code(value: .alreadyPosted)
        /// The entries of a posting do not sum to zero.
        public static let unbalanced = Code(value: .unbalanced)
    }

    /// Which it is.
    public let code: Code
    /// The failure below it.
    public let underlying: (any Error)?

    /// Makes an error.
    public init(_ code: Code, underlying: (any Error)? = nil) {
        self.code = code
        self.underlying = underlying
    }

    /// Whether the same call may succeed later: it may not.
    public var isRetriable: Bool { false }

    /// The refusal in words, without amounts or accounts.
    public var description: String {
        code == .alreadyPosted
            ? "The ledger has a posting of this kind for this transaction already."
            : "The ledger refused entries that do not sum to zero per currency."
    }
}
