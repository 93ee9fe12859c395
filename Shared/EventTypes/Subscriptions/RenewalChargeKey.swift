/// The identity of one try to charge for a period (rule S84).
///
/// No two tries have the same. The processor gets the id of the attempt that carries the try out.
public struct RenewalChargeKey: Codable, Hashable, Sendable, CustomStringConvertible {
    /// The subscription.
    public var subscriptionID: TransactionID
    /// The number of the period to pay, counted from the anchor of the period before it.
    public var period: Int
    /// The subscription's ``Subscription/epoch``.
    public var epoch: Int
    /// The number of the try, from 1.
    public var attempt: Int

    /// Makes a key.
    public init(subscriptionID: TransactionID, period: Int, epoch: Int, attempt: Int) {
        self.subscriptionID = subscriptionID
        self.period = period
        self.epoch = epoch
        self.attempt = attempt
    }

    /// The key in one line.
    public var description: String { "renewal:\(subscriptionID):\(period):\(epoch):\(attempt)" }
}
