import EventTypes

/// The numbers of a transaction's refunds.
///
/// Pure. They are stored with the receipt, so that each refund and each reversal is notified once,
/// however often and in whatever order events arrive.
struct RefundNumbers: Hashable, Sendable {
    /// The refunds that were not reversed.
    var standing: Set<Int32> = []
    /// The refunds that were reversed.
    var reversed: Set<Int32> = []
}

extension RefundNumbers {
    /// Reads the refunds of a transaction.
    init(of transaction: Transaction) {
        for refund in transaction.refunds ?? [] {
            let number = Int32(clamping: refund.number)
            if refund.reversedAt == nil {
                standing.insert(number)
            } else {
                reversed.insert(number)
            }
        }
    }

    /// Returns the refunds that were not known before, in order.
    func refunds(since before: RefundNumbers) -> [Int32] {
        standing.union(reversed).subtracting(before.standing).subtracting(before.reversed).sorted()
    }

    /// Returns the reversals that were not known before, in order.
    func reversals(since before: RefundNumbers) -> [Int32] {
        reversed.subtracting(before.reversed).sorted()
    }
}
