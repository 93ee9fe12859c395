/// An end of the service of a period before its date.
public struct EarlyEnd: Codable, Hashable, Sendable {
    /// The cause of an early end.
    public enum Reason: OpenEnum {
        /// The customer changed to another product at once (rule S101).
        case upgraded
        /// The period was refunded (rows e34 and e36).
        case refunded
        /// The subscription was ended (row e21).
        case ended
        /// A test had the next period begin early.
        case renewed
        /// A reason that only a newer version of the store knows.
        case unknown(String)

        /// Recognizes a reason.
        ///
        /// An unknown one is kept.
        public init(rawValue: String) {
            switch rawValue {
            case "upgraded": self = .upgraded
            case "refunded": self = .refunded
            case "ended": self = .ended
            case "renewed": self = .renewed
            default: self = .unknown(rawValue)
            }
        }

        /// The reason in its wire format.
        public var rawValue: String {
            switch self {
            case .upgraded: "upgraded"
            case .refunded: "refunded"
            case .ended: "ended"
            case .renewed: "renewed"
            case .unknown(let rawValue): rawValue
            }
        }
    }

    /// The end of the service.
    public var time: StoreTime
    /// The cause.
    public var reason: Reason

    /// Makes an end.
    public init(time: StoreTime, reason: Reason) {
        self.time = time
        self.reason = reason
    }
}
