import ClockAndIDs
public import EventTypes

/// A posting in the ledger: entries in one currency that sum to zero.
///
/// A posting is written once and never changed. A correction or a refund is another posting, which
/// reverses it.
public struct Posting: Hashable, Sendable {
    /// The identity of the posting.
    public let id: PostingID
    /// The transaction that the posting belongs to, or `TransactionID.ofNoTransaction`.
    public let transactionID: TransactionID
    /// The kind of the posting.
    public let kind: PostingKind
    /// The number of the posting among those of its kind and transaction, from 1.
    ///
    /// A transaction has at most one posting of each kind and number. Refunds and their reversals
    /// are posted under the number of the refund.
    public let number: Int
    /// The time of the posting.
    public let time: StoreTime
    /// The amounts that moved.
    public let entries: [JournalEntry]

    /// Makes a posting.
    ///
    /// - Precondition: The entries balance (``isBalanced(_:)``). A posting that does not is a bug of
    ///   the rule that made it.
    public init(
        id: PostingID,
        transactionID: TransactionID,
        kind: PostingKind,
        number: Int = 1,
        time: StoreTime,
        entries: [JournalEntry]
    ) {
        precondition(Self.isBalanced(entries), "The entries of a posting sum to zero.")
        self.id = id
        self.transactionID = transactionID
        self.kind = kind
        self.number = number
        self.time = time
        self.entries = entries
    }

    /// The whole amount that moved: what the buyer gave or received.
    public var gross: Money {
        let given = entries.reduce(Int64(0)) { $0 + max($1.amount.minorUnits, 0) }
        return Money(minorUnits: given, currency: entries[0].amount.currency)
    }

    /// Tells whether entries can make a posting: there are entries, none is zero, all have the same
    /// currency, and they sum to zero.
    public static func isBalanced(_ entries: [JournalEntry]) -> Bool {
        guard let currency = entries.first?.amount.currency else { return false }
        // 128 bits, so that no sum of amounts can overflow to a false zero.
        var sum: Int128 = 0
        for entry in entries {
            guard !entry.amount.isZero, entry.amount.currency == currency else { return false }
            sum += Int128(entry.amount.minorUnits)
        }
        return sum == 0
    }
}

/// One line of a posting: an account, and what it received (positive) or gave (negative).
public struct JournalEntry: Hashable, Sendable {
    /// The account of the entry.
    public let account: LedgerAccount
    /// The amount; never zero.
    public let amount: Money

    /// Makes an entry.
    public init(account: LedgerAccount, amount: Money) {
        self.account = account
        self.amount = amount
    }
}

/// The kind of a posting.
///
/// The raw values are stored in the ledger's tables.
public enum PostingKind: String, CaseIterable, Hashable, Sendable {
    /// A confirmed charge.
    case purchase
    /// Money of a purchase given back: all of it or a part.
    case refund
    /// The money of a refund that came back to the store.
    case refundReversal = "refund_reversal"
    /// A charge confirmed for a transaction that had failed; see ``LedgerAccount/processorClearing``.
    case strayCharge = "stray_charge"
    /// The return of a stray charge.
    case strayChargeReturn = "stray_charge_return"
    /// Money of a purchase that the buyer's bank took back.
    case chargeback
    /// The money of a chargeback that came back to the store.
    case chargebackReversal = "chargeback_reversal"
    /// Money that moved at the processor, as the processor lists it; of no transaction.
    case processorMovement = "processor_movement"
}

extension TransactionID {
    /// The id under which postings stand that belong to no transaction.
    public static let ofNoTransaction = TransactionID(number: 0)
}

/// The identity of a posting: a UUID of version 7, which sorts postings by time.
public struct PostingID: Hashable, Sendable, CustomStringConvertible {
    /// The 16 bytes of the UUID, in network order.
    public let bytes: SIMD16<UInt8>

    /// Wraps the bytes of a UUID.
    public init(bytes: SIMD16<UInt8>) { self.bytes = bytes }

    /// Makes a new identity.
    public init(time: StoreTime) { bytes = EventID(time: time).bytes }

    /// The UUID in its usual form.
    public var description: String { EventID(bytes: bytes).description }
}
