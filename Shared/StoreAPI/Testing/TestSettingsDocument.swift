public import EventTypes

/// The wishes of a test for an account in an app of a sandbox.
///
/// A member that is missing leaves the store as it is.
public struct TestSettingsDocument: Codable, Hashable, Sendable {
    /// The app.
    public var bundleID: BundleID
    /// Whether purchases wait for a parent's approval.
    public var asksToBuy: Bool?
    /// Whether purchases are interrupted.
    public var interruptsPurchases: Bool?
    /// Whether renewals are declined, so that subscriptions enter billing retry.
    public var declinesRenewals: Bool?
    /// Whether there is a grace period; if missing, the settings of the store say it.
    public var hasGracePeriod: Bool?
    /// The failures of the next charges.
    public var failNext: SimulatedFailure?

    /// Makes the settings of an account that nobody tests.
    public init(bundleID: BundleID) { self.bundleID = bundleID }
}

/// A reason for which the next charges fail.
public struct SimulatedFailure: Codable, Hashable, Sendable {
    /// The reasons.
    public enum Reason: String, Codable, CaseIterable, Sendable {
        /// The payment is declined.
        case declined
        /// The buyer has not enough money.
        case insufficientFunds
        /// The buyer cancels.
        case cancelled
        /// The buyer leaves to solve a problem.
        case interrupted
    }

    /// The largest number of charges.
    public static let timesMax = 1000

    /// The reason.
    public var reason: Reason
    /// The number of charges that fail, from 1; 1 if missing.
    public var times: Int?

    /// Makes a failure.
    public init(_ reason: Reason, times: Int? = nil) {
        self.reason = reason
        self.times = times
    }
}
