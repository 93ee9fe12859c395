public import EventTypes

/// A payment that the store accepted with a 2xx response.
public struct AcceptedPayment: Hashable, Sendable {
    /// The transaction in the response.
    public var transactionID: TransactionID
    /// The account that pays.
    public var account: AccountID
    /// The payment method, if it is known.
    public var paymentMethod: String

    /// Records a payment.
    public init(transactionID: TransactionID, account: AccountID, paymentMethod: String = "") {
        self.transactionID = transactionID
        self.account = account
        self.paymentMethod = paymentMethod
    }
}

/// The result of an audit: counts, and every violation of the guarantee.
public struct AuditReport: Sendable {
    /// The kinds of violation.
    public enum Kind: String, Sendable {
        /// Something that was accepted is missing.
        case lost
        /// Something happened more than once.
        case doubled
        /// Any other violation.
        case wrong
    }

    /// A violation of the guarantee.
    public struct Violation: Hashable, Sendable, CustomStringConvertible {
        /// The kind of the violation.
        public var kind: Kind
        /// The subject of the violation, usually a transaction.
        public var subject: String
        /// A description of the violation and its place.
        public var detail: String

        /// The violation in one line.
        public var description: String { "\(kind.rawValue): \(subject): \(detail)" }
    }

    /// Names and counts in the order of display.
    public internal(set) var counts: [(name: String, count: Int)] = []
    /// All violations.
    public internal(set) var violations: [Violation] = []

    /// The number of transactions that lost something.
    public var lost: Int { subjects(of: .lost) }
    /// The number of transactions with something doubled.
    public var doubled: Int { subjects(of: .doubled) }
    /// Whether the guarantee holds.
    public var isClean: Bool { violations.isEmpty }
    /// The summary `0 lost, 0 doubled`, followed by the number of other violations, if any.
    public var verdict: String {
        let wrong = subjects(of: .wrong)
        return "\(lost) lost, \(doubled) doubled" + (wrong == 0 ? "" : ", \(wrong) otherwise wrong")
    }

    /// Returns a count by its name.
    public func count(_ name: String) -> Int { counts.first { $0.name == name }?.count ?? 0 }

    private func subjects(of kind: Kind) -> Int {
        Set(violations.filter { $0.kind == kind }.map(\.subject)).count
    }

    mutating func count(_ name: String, _ count: Int) { counts.append((name, count)) }

    mutating func add(_ kind: Kind, _ subject: some CustomStringConvertible, _ detail: String) {
        violations.append(Violation(kind: kind, subject: "\(subject)", detail: detail))
    }
}
