import EventTypes

/// The key of an attempt.
struct AttemptKey: Hashable, Sendable, Comparable {
    let transactionID: TransactionID
    let kind: AttemptKind
    /// The number of the attempt among those of its kind, from 1.
    ///
    /// A reversal has the number of the refund that it reverses.
    var number = 1

    static func < (left: Self, right: Self) -> Bool {
        (left.transactionID, left.kind.rawValue, left.number)
            < (right.transactionID, right.kind.rawValue, right.number)
    }
}
