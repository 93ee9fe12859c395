public import EventTypes

/// The next thing to do for a subscription, and the time from which on it is due (rule S500).
///
/// It is a question to the subscription, not an order: once the subscription has changed, the action
/// has no effect (rule S502).
public struct DueAction: Codable, Hashable, Sendable, Comparable {
    /// The kinds of actions.
    ///
    /// The raw value is the rank among actions of one time (rule S417).
    public enum Kind: Int, Codable, CaseIterable, Hashable, Sendable, Comparable {
        /// Ask the customer about a higher price, or inform the customer of it.
        case priceIncrease = 3
        /// Charge for the next period, before or at the end of the present one.
        case renewalCharge = 4
        /// End the present period.
        case periodEnd = 5
        /// End the grace period.
        case graceEnd = 6
        /// Try to charge again for a period that was not paid in time.
        case retryCharge = 7
        /// Give up charging.
        case retryEnd = 8

        /// Orders kinds by their rank.
        public static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }

        /// Whether the action asks the processor.
        public var isCharge: Bool { self == .renewalCharge || self == .retryCharge }

        /// Whether the action ends something.
        public var isEnd: Bool { !isCharge && self != .priceIncrease }
    }

    /// The kind.
    public var kind: Kind
    /// The time from which on the action is due.
    public var time: StoreTime
    /// The subscription.
    public var subscriptionID: TransactionID

    /// Makes an action.
    public init(kind: Kind, time: StoreTime, subscriptionID: TransactionID) {
        self.kind = kind
        self.time = time
        self.subscriptionID = subscriptionID
    }

    /// Orders actions as they are carried out: by time, rank and subscription (rule S417).
    public static func < (left: DueAction, right: DueAction) -> Bool {
        (left.time, left.kind, left.subscriptionID) < (right.time, right.kind, right.subscriptionID)
    }
}
