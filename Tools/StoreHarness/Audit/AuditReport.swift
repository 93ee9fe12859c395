public import EventTypes

/// A payment that the store accepted: it answered with a 2xx.
public struct AcceptedPayment: Hashable, Sendable {
    /// The transaction of the answer.
    public var transactionID: TransactionID
    /// Who pays.
    public var account: AccountID
    /// The payment method, when it is known.
    public var paymentMethod: String

    /// Notes a payment.
    public init(transactionID: TransactionID, account: AccountID, paymentMethod: String = "") {
        self.transactionID = transactionID
        self.account = account
        self.paymentMethod = paymentMethod
    }
}

/// What an audit found: counts, and every breach of the guarantee.
public struct AuditReport: Sendable {
    /// What kind of breach.
    public enum Kind: String, Sendable {
        /// Something accepted did not get its due.
        case lost
        /// Something had its effect more than once.
        case doubled
        /// Something else that must not be.
        case wrong
    }

    /// One breach.
    public struct Violation: Hashable, Sendable, CustomStringConvertible {
        /// What kind.
        public var kind: Kind
        /// What it is about, usually a transaction.
        public var subject: String
        /// What is the matter, and where.
        public var detail: String

        /// In one line.
        public var description: String { "\(kind.rawValue): \(subject): \(detail)" }
    }

    /// Names and counts, in the order to show them.
    public internal(set) var counts: [(name: String, count: Int)] = []
    /// Every breach.
    public internal(set) var violations: [Violation] = []

    /// How many transactions lost something.
    public var lost: Int { subjects(of: .lost) }
    /// How many transactions had something twice.
    public var doubled: Int { subjects(of: .doubled) }
    /// Whether the guarantee holds.
    public var isClean: Bool { violations.isEmpty }
    /// `0 lost, 0 doubled`, and what else is wrong, if anything.
    public var verdict: String {
        let wrong = subjects(of: .wrong)
        return "\(lost) lost, \(doubled) doubled" + (wrong == 0 ? "" : ", \(wrong) otherwise wrong")
    }

    /// A count by its name.
    public func count(_ name: String) -> Int { counts.first { $0.name == name }?.count ?? 0 }

    private func subjects(of kind: Kind) -> Int {
        Set(violations.filter { $0.kind == kind }.map(\.subject)).count
    }

    mutating func count(_ name: String, _ count: Int) { counts.append((name, count)) }

    mutating func add(_ kind: Kind, _ subject: some CustomStringConvertible, _ detail: String) {
        violations.append(Violation(kind: kind, subject: "\(subject)", detail: detail))
    }
}
