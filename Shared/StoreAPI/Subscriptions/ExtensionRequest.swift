public import EventTypes

/// A request to extend the newest period of a subscription, which nobody pays.
public struct ExtensionRequest: Codable, Hashable, Sendable {
    /// Apple's codes of the reason for an extension.
    public enum ReasonCode: Int, Codable, Hashable, Sendable {
        /// No reason is given.
        case undeclared = 0
        /// To satisfy a customer.
        case customerSatisfaction = 1
        /// Any other reason.
        case other = 2
        /// The service had an issue or an outage.
        case serviceIssue = 3
    }

    /// The number of days, from 1 to 90.
    public var days: Int
    /// The code of the reason; `nil` for none.
    public var reasonCode: ReasonCode?
    /// The administrator's reason.
    public var reason: ActReason?

    /// Makes a request.
    public init(days: Int, reasonCode: ReasonCode? = nil, reason: ActReason? = nil) {
        self.days = days
        self.reasonCode = reasonCode
        self.reason = reason
    }
}
