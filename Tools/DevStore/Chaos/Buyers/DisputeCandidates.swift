import EventTypes

/// The finished payments that the bank of a chaos run disputes: some of each kind.
struct DisputeCandidates: Sendable {
    /// The kinds of payments.
    enum Kind: String, CaseIterable, Sendable {
        case purchase = "purchases"
        case firstPeriod = "first periods"
        case renewal = "renewals"

        /// One of so many payments is disputed.
        fileprivate var rarity: Int {
            switch self {
            case .purchase: 20
            case .firstPeriod: 6
            case .renewal: 10
            }
        }
    }

    /// A payment to dispute.
    struct Candidate: Hashable, Sendable {
        let id: TransactionID
        let kind: Kind
    }

    /// The payments to dispute, in the order in which they were finished.
    private(set) var chosen: [Candidate] = []
    private var counts: [Kind: Int] = [:]

    /// Adds a finished payment, which is disputed if it is its turn.
    mutating func add(_ transaction: Transaction) {
        guard let kind = Self.kind(of: transaction) else { return }
        let count = counts[kind, default: 0]
        if count.isMultiple(of: kind.rarity) {
            chosen.append(Candidate(id: transaction.id, kind: kind))
        }
        counts[kind] = count + 1
    }

    /// The kind of a payment; `nil` if it is not disputed.
    ///
    /// Nothing was charged for a copy, a share or a free trial. The buyers of every tenth transaction
    /// get their money back in another way (``ChaosBuyers/giveBack(_:_:)``).
    static func kind(of transaction: Transaction) -> Kind? {
        guard transaction.state == .purchased, !transaction.price.isZero,
            transaction.id.number % 10 != 0
        else { return nil }
        let isPeriod = transaction.productType == .autoRenewableSubscription
        if transaction.reason == .renewal { return .renewal }
        guard transaction.reason == .purchase else { return nil }
        return isPeriod ? .firstPeriod : .purchase
    }
}
