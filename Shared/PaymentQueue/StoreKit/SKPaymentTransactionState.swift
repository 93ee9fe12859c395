import EventTypes

/// The states of a transaction, with StoreKit's numbers (spec rule 33).
public enum SKPaymentTransactionState: RawRepresentable, Hashable, Sendable {
    /// The store is processing the payment. It cannot be finished in this state.
    case purchasing
    /// The payment succeeded.
    case purchased
    /// The payment failed without a charge. ``SKPaymentTransaction/error`` contains the reason.
    case failed
    /// An earlier purchase is delivered again without a charge.
    case restored
    /// The payment waits for somebody's approval.
    case deferred
    /// A state that only a newer store knows (spec rule 41).
    ///
    /// It cannot be finished.
    case unknown(String)

    /// StoreKit's number of the state; -1 for a state that StoreKit does not have.
    public var rawValue: Int {
        switch self {
        case .purchasing: 0
        case .purchased: 1
        case .failed: 2
        case .restored: 3
        case .deferred: 4
        case .unknown: -1
        }
    }

    /// Makes a state from StoreKit's number, 0 to 4.
    public init?(rawValue: Int) {
        switch rawValue {
        case 0: self = .purchasing
        case 1: self = .purchased
        case 2: self = .failed
        case 3: self = .restored
        case 4: self = .deferred
        default: return nil
        }
    }

    init(_ state: EventTypes.TransactionState) {
        switch state {
        case .purchasing: self = .purchasing
        case .purchased: self = .purchased
        case .failed: self = .failed
        case .restored: self = .restored
        case .deferred: self = .deferred
        case .unknown(let name): self = .unknown(name)
        }
    }

    /// Whether the store has received the payment (spec rule 44).
    var isPaid: Bool { self == .purchased || self == .restored }

    /// Whether an app may finish it (spec rules 54 and 55).
    var isFinishable: Bool { isPaid || self == .failed }
}

/// ``SKPaymentTransactionState`` without its prefix.
public typealias TransactionState = SKPaymentTransactionState
