/// The states of a subscription (rule S80), with the words of StoreKit.
///
/// Whether it renews is not a state: ``Subscription/autoRenewOffReason`` says that.
public enum SubscriptionState: OpenEnum {
    /// A period is paid.
    case active
    /// The period has ended unpaid. The account keeps its service while the store tries to charge.
    case inGracePeriod
    /// The period has ended unpaid. The account has no service while the store tries to charge.
    case inBillingRetryPeriod
    /// It has ended, and the store has stopped charging.
    case expired
    /// Its period was taken away, such as by a refund.
    case revoked
    /// A state that only a newer version of the store knows.
    case unknown(String)

    /// Recognizes a state.
    ///
    /// An unknown one is kept.
    public init(rawValue: String) {
        switch rawValue {
        case "active": self = .active
        case "inGracePeriod": self = .inGracePeriod
        case "inBillingRetryPeriod": self = .inBillingRetryPeriod
        case "expired": self = .expired
        case "revoked": self = .revoked
        default: self = .unknown(rawValue)
        }
    }

    /// The state in its wire format.
    public var rawValue: String {
        switch self {
        case .active: "active"
        case .inGracePeriod: "inGracePeriod"
        case .inBillingRetryPeriod: "inBillingRetryPeriod"
        case .expired: "expired"
        case .revoked: "revoked"
        case .unknown(let rawValue): rawValue
        }
    }

    /// The number of the state in the App Store Server API; `nil` for an unknown one.
    public var status: Int? {
        switch self {
        case .active: 1
        case .expired: 2
        case .inBillingRetryPeriod: 3
        case .inGracePeriod: 4
        case .revoked: 5
        case .unknown: nil
        }
    }

    /// Whether the subscription goes on: it is paid, or the store tries to charge for it.
    public var isRunning: Bool {
        self == .active || self == .inGracePeriod || self == .inBillingRetryPeriod
    }
}
