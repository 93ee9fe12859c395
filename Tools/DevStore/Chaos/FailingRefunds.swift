/// The refunds that a bank cannot make although Stripe has confirmed them: the first one of every
/// third payment that is refunded.
///
/// A refund that is made again goes through, so that nothing is owed at the end of a run.
struct FailingRefunds: Sendable {
    private static let rarity = 3

    private var payments: Set<String> = []

    /// Returns the refunds to fail, of those that were not shown before.
    ///
    /// - Parameter refunds: The refunds that have succeeded, the oldest first.
    /// - Returns: The ids of the refunds that fail.
    mutating func next(among refunds: [(id: String, payment: String)]) -> [String] {
        refunds.compactMap { refund in
            guard payments.insert(refund.payment).inserted else { return nil }
            return (payments.count - 1).isMultiple(of: Self.rarity) ? refund.id : nil
        }
    }
}
