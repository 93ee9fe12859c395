public import EventTypes

extension LedgerRules {
    /// Makes the posting of a movement at the processor.
    ///
    /// The balance receives the amount less the fee, and the account of the other side gives the
    /// amount. A charge comes from the buyers' payments, and a payout goes to the bank.
    ///
    /// - Parameters:
    ///   - id: The posting's identity.
    ///   - number: The number of the movement.
    ///   - side: The account of the other side.
    ///   - amount: The amount before the fee; negative if the balance falls.
    ///   - fee: The fee; negative if the processor gives one back.
    ///   - time: The time at which the movement became known.
    /// - Returns: The posting, or `nil` if no money moves.
    /// - Precondition: Both amounts have one currency, and their difference can be held.
    public static func processorMovement(
        id: PostingID,
        number: Int,
        side: LedgerAccount,
        amount: Money,
        fee: Money,
        time: StoreTime
    ) -> Posting? {
        precondition(amount.currency == fee.currency, "A movement is in one currency.")
        guard let net = amount.adding(fee.negated) else {
            preconditionFailure("A balance holds what moves.")
        }
        let entries = merged([
            JournalEntry(account: side, amount: amount.negated),
            JournalEntry(account: .processorBalance, amount: net),
            JournalEntry(account: .processorFees, amount: fee),
        ]).filter { !$0.amount.isZero }
        guard !entries.isEmpty else { return nil }
        return Posting(
            id: id,
            transactionID: .ofNoTransaction,
            kind: .processorMovement,
            number: number,
            time: time,
            entries: entries
        )
    }
}
