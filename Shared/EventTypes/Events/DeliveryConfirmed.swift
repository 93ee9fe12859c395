/// `delivery.confirmed.v1`: the recipient of a delivery has confirmed it.
///
/// Only what somebody outside confirms: what the store gives itself is given with the change of the
/// queue, and what the app delivers is confirmed by its finish.
public struct DeliveryConfirmed: Event, Hashable {
    /// The transaction.
    public var transactionID: TransactionID
    /// The target: its place in the delivery plan and its kind, `1:webhook`.
    public var target: String
    /// Which try was confirmed, from 1.
    public var attempts: Int
    /// When.
    public var confirmedAt: Timestamp
    /// Makes the event.
    public init(
        transactionID: TransactionID,
        target: String,
        attempts: Int,
        confirmedAt: Timestamp
    ) {
        self.transactionID = transactionID
        self.target = target
        self.attempts = attempts
        self.confirmedAt = confirmedAt
    }
}
