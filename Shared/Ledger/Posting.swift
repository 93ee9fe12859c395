import ClockAndIDs
public import EventTypes

/// A posting in the ledger: entries that sum to zero in every currency.
///
/// A posting is written once and never changed. A correction or a refund is another posting, which
/// reverses it.
public struct Posting: Hashable, Sendable {
    /// The identity of the posting.
    public let id: PostingID
    /// The kind of the posting.
    ///
    /// A transaction has at most one posting of each kind.
    public let kind: PostingKind
    /// The transaction that the posting belongs to.
    public let transactionID: TransactionID
    /// The time of the posting.
    public let time: Timestamp
    /// The amounts that moved.
    public let entries: [JournalEntry]

    /// Makes a posting.
    ///
    /// - Precondition: There are entries, none of them zero, and they sum to zero per currency.
    ///   A posting that does not balance is a bug of the rule that made it.
    public init(
        id: PostingID,
        kind: PostingKind,
        transactionID: TransactionID,
        time: Timestamp,
        entries: [JournalEntry]
    ) {
        precondition(Self.isBalanced(entries), "The entries of a posting sum to zero per currency.")
        self.id = id
        self.kind = kind
        self.transactionID = transactionID
        self.time = time
        self.entries = entries
    }

    /// Tells whether entries can make a posting: there are entries, none is zero, and each currency
    /// sums to zero.
    public static func isBalanced(_ entries: [JournalEntry]) -> Bool {
        // 128 bits, so that no sum of amounts can overflow to a false zero.
        var sums: [Currency: Int128] = [:]
        for entry in entries {
            guard !entry.amount.isZero else { return false }
            sums[entry.amount.currency, default: 0] += Int128(entry.amount.minorUnits)
        }
        return !entries.isEmpty && sums.values.allSatisfy { $0 == 0 }
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
    /// A charge given back in full.
    case refund
    /// A charge confirmed for a transaction that had failed; see ``LedgerAccount/processorClearing``.
    case strayCharge = "stray_charge"
    /// The return of a stray charge.
    case strayChargeReturn = "stray_charge_return"
}

/// The identity of a posting: a UUID of version 7, which sorts postings by time.
public struct PostingID: Hashable, Sendable, CustomStringConvertible {
    /// The 16 bytes of the UUID, in network order.
    public let bytes: SIMD16<UInt8>

    /// Wraps the bytes of a UUID.
    public init(bytes: SIMD16<UInt8>) { self.bytes = bytes }

    /// Makes a new identity.
    public init(time: Timestamp) { bytes = EventID(time: time).bytes }

    /// The UUID in its usual form.
    public var description: String { EventID(bytes: bytes).description }
}
