import EventTypes

/// The states of a transaction; the numbers are StoreKit's (spec rule 33).
public enum SKPaymentTransactionState: RawRepresentable, Hashable, Sendable {
    /// Being processed by the store; never finished.
    case purchasing
    /// Paid.
    case purchased
    /// Ended without a charge; ``SKPaymentTransaction/error`` says why.
    case failed
    /// A purchase of old, delivered again without a charge.
    case restored
    /// Waiting for somebody's approval.
    case deferred
    /// A state that a newer store knows (spec rule 41).
    ///
    /// It is not finished.
    case unknown(String)

    /// StoreKit's number of the state; -1 for one that StoreKit does not have.
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

    /// The state of one of StoreKit's numbers, 0 to 4.
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
