public import EventTypes

/// The rules that make the entries of each kind of posting.
///
/// Pure: ids and times come in as arguments.
///
/// A price of zero moves no money, so each rule returns `nil` for it.
public enum LedgerRules {
    /// Makes the posting of a confirmed charge.
    ///
    /// The buyer gives the gross price, the store receives the net price, and the contained tax
    /// becomes payable.
    ///
    /// - Parameters:
    ///   - id: The posting's identity.
    ///   - transactionID: The transaction that was charged.
    ///   - buyer: The buyer who was charged.
    ///   - gross: The whole price; not negative.
    ///   - taxBasisPoints: The rate of the tax contained in the price, in hundredths of a percent.
    ///   - time: The time at which the charge was confirmed.
    /// - Returns: The posting, or `nil` if no money moves.
    public static func purchase(
        id: PostingID,
        transactionID: TransactionID,
        buyer: AccountID,
        gross: Money,
        taxBasisPoints: Int,
        time: StoreTime
    ) -> Posting? {
        posting(
            id: id,
            kind: .purchase,
            transactionID: transactionID,
            time: time,
            from: .buyer(buyer),
            to: parts(of: gross, taxBasisPoints: taxBasisPoints, .storeRevenue)
        )
    }

    /// Makes the posting of a refund of all or a part of a purchase.
    ///
    /// The buyer receives the gross amount, the net amount is posted to ``LedgerAccount/refunds``,
    /// and the tax in it is no longer owed.
    ///
    /// The tax of a part is the difference that the part makes to the tax of everything refunded.
    /// So the taxes of all parts always add up to the tax of their sum, whatever is rounded.
    ///
    /// - Parameters:
    ///   - id: The posting's identity.
    ///   - transactionID: The purchase.
    ///   - number: The number of the refund.
    ///   - buyer: The buyer who is given the money back.
    ///   - gross: The amount of this refund.
    ///   - refunded: The amount that was refunded before and not reversed.
    ///   - taxBasisPoints: The rate that the purchase was posted with.
    ///   - isChargeback: Whether the buyer's bank took the money back.
    ///   - time: The time at which the refund was confirmed.
    /// - Returns: The posting, or `nil` if no money moves.
    public static func refund(
        id: PostingID,
        transactionID: TransactionID,
        number: Int,
        buyer: AccountID,
        gross: Money,
        refunded: Money,
        taxBasisPoints: Int,
        isChargeback: Bool = false,
        time: StoreTime
    ) -> Posting? {
        posting(
            id: id,
            kind: isChargeback ? .chargeback : .refund,
            number: number,
            transactionID: transactionID,
            time: time,
            from: .buyer(buyer),
            to: parts(
                of: gross,
                above: refunded,
                taxBasisPoints: taxBasisPoints,
                isChargeback ? .chargebacks : .refunds
            ),
            isReversed: true
        )
    }

    /// Makes the posting of the reversal of a refund: the buyer gives the amount again.
    ///
    /// Its tax is the difference that it makes to the tax of everything refunded, as for a refund.
    ///
    /// - Parameters:
    ///   - id: The posting's identity.
    ///   - transactionID: The purchase.
    ///   - number: The number of the refund that is reversed.
    ///   - buyer: The buyer who had been given the money back.
    ///   - gross: The amount of the refund.
    ///   - remaining: The amount that stays refunded after the reversal.
    ///   - taxBasisPoints: The rate that the purchase was posted with.
    ///   - isChargeback: Whether the buyer's bank had taken the money back.
    ///   - time: The time at which the reversal was confirmed.
    /// - Returns: The posting, or `nil` if no money moves.
    public static func refundReversal(
        id: PostingID,
        transactionID: TransactionID,
        number: Int,
        buyer: AccountID,
        gross: Money,
        remaining: Money,
        taxBasisPoints: Int,
        isChargeback: Bool = false,
        time: StoreTime
    ) -> Posting? {
        posting(
            id: id,
            kind: isChargeback ? .chargebackReversal : .refundReversal,
            number: number,
            transactionID: transactionID,
            time: time,
            from: .buyer(buyer),
            to: parts(
                of: gross,
                above: remaining,
                taxBasisPoints: taxBasisPoints,
                isChargeback ? .chargebacks : .refunds
            )
        )
    }

    /// Makes the posting of a charge that was confirmed after its transaction had failed.
    public static func strayCharge(
        id: PostingID,
        transactionID: TransactionID,
        buyer: AccountID,
        gross: Money,
        time: StoreTime
    ) -> Posting? {
        posting(
            id: id,
            kind: .strayCharge,
            transactionID: transactionID,
            time: time,
            from: .buyer(buyer),
            to: [(.processorClearing, gross)]
        )
    }

    /// Makes the posting of the return of a stray charge, under the number of the refund that did it.
    public static func strayChargeReturn(
        id: PostingID,
        transactionID: TransactionID,
        number: Int,
        buyer: AccountID,
        gross: Money,
        time: StoreTime
    ) -> Posting? {
        posting(
            id: id,
            kind: .strayChargeReturn,
            number: number,
            transactionID: transactionID,
            time: time,
            from: .buyer(buyer),
            to: [(.processorClearing, gross)],
            isReversed: true
        )
    }

    /// The tax contained in a gross price: `gross × rate / (1 + rate)`, rounded to the nearest
    /// minor unit, halves up.
    ///
    /// Net and tax always add up to the gross price.
    public static func tax(containedIn gross: Money, basisPoints: Int) -> Money {
        precondition(gross.minorUnits >= 0, "Tax is taken from a price, which is not negative.")
        precondition((0...10_000).contains(basisPoints), "A tax rate is from 0 to 100 percent.")
        // 128 bits are needed because the product of a large price and a rate does not fit in 64.
        let divisor = Int128(10_000 + basisPoints)
        let doubled = 2 * Int128(gross.minorUnits) * Int128(basisPoints) + divisor
        return Money(minorUnits: Int64(doubled / (2 * divisor)), currency: gross.currency)
    }

    /// Splits an amount into net and tax.
    ///
    /// - Parameters:
    ///   - gross: The amount to split.
    ///   - base: The amount that it comes on top of, whose tax is posted already; `nil` for none.
    ///   - taxBasisPoints: The rate of the tax.
    ///   - netAccount: The account of the net amount.
    /// - Returns: The two amounts with their accounts; one of them may be zero.
    private static func parts(
        of gross: Money,
        above base: Money? = nil,
        taxBasisPoints: Int,
        _ netAccount: LedgerAccount
    ) -> [(LedgerAccount, Money)] {
        let base = base ?? .zero(gross.currency)
        guard let total = base.adding(gross) else {
            preconditionFailure("No more is refunded than a price can hold.")
        }
        let tax =
            tax(containedIn: total, basisPoints: taxBasisPoints).minorUnits
            - tax(containedIn: base, basisPoints: taxBasisPoints).minorUnits
        return [
            (netAccount, Money(minorUnits: gross.minorUnits - tax, currency: gross.currency)),
            (.taxPayable, Money(minorUnits: tax, currency: gross.currency)),
        ]
    }

    private static func posting(
        id: PostingID,
        kind: PostingKind,
        number: Int = 1,
        transactionID: TransactionID,
        time: StoreTime,
        from giver: LedgerAccount,
        to receivers: [(LedgerAccount, Money)],
        isReversed: Bool = false
    ) -> Posting? {
        var entries: [JournalEntry] = []
        for (account, amount) in receivers where !amount.isZero {
            entries.append(JournalEntry(account: giver, amount: amount.negated))
            entries.append(JournalEntry(account: account, amount: amount))
        }
        guard !entries.isEmpty else { return nil }
        entries = merged(entries)
        if isReversed {
            entries = entries.map { JournalEntry(account: $0.account, amount: $0.amount.negated) }
        }
        return Posting(
            id: id,
            transactionID: transactionID,
            kind: kind,
            number: number,
            time: time,
            entries: entries
        )
    }

    /// Adds up the entries of each account, so that it has only one.
    static func merged(_ entries: [JournalEntry]) -> [JournalEntry] {
        var merged: [JournalEntry] = []
        for entry in entries {
            if let index = merged.firstIndex(where: { $0.account == entry.account }),
                let sum = merged[index].amount.adding(entry.amount)
            {
                merged[index] = JournalEntry(account: entry.account, amount: sum)
            } else {
                merged.append(entry)
            }
        }
        return merged
    }
}
