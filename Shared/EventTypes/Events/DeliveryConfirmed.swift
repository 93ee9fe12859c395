/// `delivery.confirmed.v1`: the recipient of a delivery has confirmed it.
///
/// It is published only for recipients outside the store. Deliveries by the store itself are part
/// of the queue's change, and deliveries by the app are confirmed when it finishes the transaction.
public struct DeliveryConfirmed: Event, Hashable {
    /// The transaction.
    public var transactionID: TransactionID
    /// The target, such as `1:webhook`.
    public var target: DeliveryTargetName
    /// The number of the confirmed attempt, from 1.
    public var attempts: Int
    /// The time of the confirmation.
    public var confirmedAt: StoreTime
    /// Makes the event.
    public init(
        transactionID: TransactionID,
        target: DeliveryTargetName,
        attempts: Int,
        confirmedAt: StoreTime
    ) {
        self.transactionID = transactionID
        self.target = target
        self.attempts = attempts
        self.confirmedAt = confirmedAt
    }
}
