/// The five states of a transaction (spec rule 33).
public enum TransactionState: OpenEnum {
    /// The store is processing the payment. It cannot be finished in this state.
    case purchasing
    /// The buyer has paid and receives the product.
    case purchased
    /// The payment failed without a charge.
    case failed
    /// An earlier purchase is delivered again without a charge.
    case restored
    /// The payment waits for somebody's approval (Ask to Buy).
    case deferred
    /// A state that only a newer version of the store knows. It cannot be finished.
    case unknown(String)

    /// Recognizes a state.
    ///
    /// An unknown one is kept.
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

    /// The state in its wire format.
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
