import EventTypes

/// What an attempt asks of the processor.
///
/// The raw values stand in the table.
enum AttemptKind: String, Hashable, Sendable {
    case charge
    case refund
}

/// Which attempt: a transaction has at most one of each kind.
struct AttemptKey: Hashable, Sendable, Comparable {
    let transactionID: TransactionID
    let kind: AttemptKind

    static func < (left: Self, right: Self) -> Bool {
        (left.transactionID, left.kind.rawValue) < (right.transactionID, right.kind.rawValue)
    }
}
