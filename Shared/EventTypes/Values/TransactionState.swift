/// The five states of a transaction (spec rule 33).
public enum TransactionState: OpenEnum {
    /// Being processed by the store; never finishable.
    case purchasing
    /// Paid; the buyer gets the product.
    case purchased
    /// Ended without a charge.
    case failed
    /// A purchase of old, delivered again without a charge.
    case restored
    /// Waiting for somebody's approval (Ask to Buy).
    case deferred
    /// A state that a newer version of the store knows. It is never finished.
    case unknown(String)

    /// Recognises a state, or keeps it as unknown.
    public init(rawValue: String) {
        switch rawValue {
        case "purchasing": self = .purchasing
        case "purchased": self = .purchased
        case "failed": self = .failed
        case "restored": self = .restored
        case "deferred": self = .deferred
        default: self = .unknown(rawValue)
        }
    }

    /// The state as it stands on the wire.
    public var rawValue: String {
        switch self {
        case .purchasing: "purchasing"
        case .purchased: "purchased"
        case .failed: "failed"
        case .restored: "restored"
        case .deferred: "deferred"
        case .unknown(let rawValue): rawValue
        }
    }
}
