/// The ledger's refusal of a posting.
///
/// Each kind is a bug of the caller or of a rule. The database refused the posting, so nothing was
/// written.
public struct LedgerError: Error, Sendable, CustomStringConvertible {
    /// The kinds of refusal.
    public struct Code: Hashable, Sendable {
        private enum Value { case alreadyPosted, unbalanced }
        private let value: Value

        /// The transaction has a posting of this kind and number already.
        public static let alreadyPosted = Code(value: .alreadyPosted)
        /// The entries of a posting do not sum to zero.
        public static let unbalanced = Code(value: .unbalanced)
    }

    /// The kind of refusal.
    public let code: Code
    /// The underlying error.
    public let underlying: (any Error)?

    /// Makes an error.
    public init(_ code: Code, underlying: (any Error)? = nil) {
        self.code = code
        self.underlying = underlying
    }

    /// Always false: the same call cannot succeed later.
    public var isRetriable: Bool { false }

    /// The refusal in words, without amounts or accounts.
    public var description: String {
        code == .alreadyPosted
            ? "The ledger has this posting of the transaction already."
            : "The ledger refused entries that do not sum to zero."
    }
}
