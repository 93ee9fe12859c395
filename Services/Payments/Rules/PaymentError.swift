import ServiceKit

/// A failure of `payments` itself, as opposed to a refusal.
struct PaymentError: RetriableError, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    struct Code: Hashable, Sendable {
        private enum Value {
            case unknownRow, attemptMissing, transactionMissing, undecided, keyTaken
        }
        private let value: Value

        /// A row holds a value that this version does not know, because a newer version wrote it.
        static let unknownRow = Code(value: .unknownRow)
        /// A transaction was paid or refunded, and the attempt that did it is gone.
        static let attemptMissing = Code(value: .attemptMissing)
        /// An idempotency key was used by a transaction that is gone.
        static let transactionMissing = Code(value: .transactionMissing)
        /// A rule has no answer where another expects one.
        static let undecided = Code(value: .undecided)
        /// Another request has taken an idempotency key at this moment.
        static let keyTaken = Code(value: .keyTaken)
    }

    let code: Code

    init(_ code: Code) { self.code = code }

    /// Whether the same request may be sent again.
    var isRetriable: Bool { code == .keyTaken }

    var description: String {
        switch code {
        case .unknownRow:
            "A row of the database holds a value that this version of payments does not know."
        case .attemptMissing:
            "The attempt that moved the money is missing; run 'counterfoil reconcile'."
        case .transactionMissing:
            "The transaction that used an idempotency key is missing; run 'counterfoil reconcile'."
        case .undecided:
            "Two rules of payments contradict each other; nothing was changed. Please report it."
        default:
            "Another request has taken an idempotency key at this moment."
        }
    }
}
