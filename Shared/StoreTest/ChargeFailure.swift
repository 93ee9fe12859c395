import StoreAPI

/// A reason for which a charge fails.
public enum ChargeFailure: String, CaseIterable, Sendable {
    /// The payment is declined.
    case declined
    /// The buyer has not enough money.
    case insufficientFunds
    /// The buyer cancels.
    case cancelled
    /// The buyer leaves to solve a problem.
    case interrupted

    /// The reason as the store calls it.
    var reason: SimulatedFailure.Reason {
        switch self {
        case .declined: .declined
        case .insufficientFunds: .insufficientFunds
        case .cancelled: .cancelled
        case .interrupted: .interrupted
        }
    }
}
