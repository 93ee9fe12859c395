import EventTypes

/// The request that an attempt makes to the processor.
///
/// The raw values are stored in the table.
enum AttemptKind: String, Hashable, Sendable {
    case charge
    case refund
}

/// The key of an attempt; a transaction has at most one attempt of each kind.
struct AttemptKey: Hashable, Sendable, Comparable {
    let transactionID: TransactionID
    let kind: AttemptKind

    static func < (left: Self, right: Self) -> Bool {
        (left.transactionID, left.kind.rawValue) < (right.transactionID, right.kind.rawValue)
    }
}
