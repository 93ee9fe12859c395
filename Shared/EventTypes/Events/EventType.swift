/// The name of a kind of event, with its version: the `ce_type` of CloudEvents 1.0.
public struct EventType: OpenEnum {
    /// The name as it stands on the wire.
    public let rawValue: String
    /// Wraps a name; one that this version does not know is kept.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name without its version: that of `transaction.purchased.v1` is `transaction.purchased`.
    public var name: Substring {
        guard let dot = rawValue.lastIndex(of: "."), rawValue[dot...].hasPrefix(".v") else {
            return rawValue[...]
        }
        return rawValue[..<dot]
    }

    /// A product was created, changed, or put on or off sale.
    ///
    /// Data: ``ProductChanged``.
    public static let productChanged = EventType(rawValue: "product.changed.v1")
    /// A payment was accepted.
    ///
    /// Data: ``TransactionChanged``, as for all six of these.
    public static let transactionPurchasing = EventType(rawValue: "transaction.purchasing.v1")
    /// A transaction waits for approval.
    public static let transactionDeferred = EventType(rawValue: "transaction.deferred.v1")
    /// A charge was confirmed.
    public static let transactionPurchased = EventType(rawValue: "transaction.purchased.v1")
    /// A payment ended without a charge.
    public static let transactionFailed = EventType(rawValue: "transaction.failed.v1")
    /// A finished purchase was restored.
    public static let transactionRestored = EventType(rawValue: "transaction.restored.v1")
    /// A charge was given back in full.
    public static let transactionRefunded = EventType(rawValue: "transaction.refunded.v1")
    /// An approver said yes (Ask to Buy); what comes of it is an event of its own.
    ///
    /// Data: ``TransactionChanged``, as for the two after it.
    public static let transactionApproved = EventType(rawValue: "transaction.approved.v1")
    /// A charge was confirmed that its transaction does not take; it is on its way back.
    public static let strayCharged = EventType(rawValue: "transaction.stray-charged.v1")
    /// A stray charge was given back.
    public static let strayChargeReturned = EventType(
        rawValue: "transaction.stray-charge-returned.v1"
    )
    /// A transaction was signed.
    ///
    /// Data: ``ReceiptIssued``.
    public static let receiptIssued = EventType(rawValue: "receipt.issued.v1")
    /// A receipt was signed again.
    ///
    /// Data: ``ReceiptReissued``.
    public static let receiptReissued = EventType(rawValue: "receipt.reissued.v1")
    /// An account's queue changed.
    ///
    /// Data: ``QueueChanged``.
    public static let queueChanged = EventType(rawValue: "queue.changed.v1")
    /// A transaction was finished and left the queue.
    ///
    /// Data: ``QueueChanged``.
    public static let transactionFinished = EventType(rawValue: "transaction.finished.v1")
    /// A delivery was confirmed by its recipient.
    ///
    /// Data: ``DeliveryConfirmed``.
    public static let deliveryConfirmed = EventType(rawValue: "delivery.confirmed.v1")
    /// What the store knows of an account changed.
    ///
    /// Data: ``AccountChanged``.
    public static let accountChanged = EventType(rawValue: "account.changed.v1")
    /// An account changed, as its queue tells it.
    ///
    /// Data: ``QueueAccountChanged``.
    public static let queueAccountChanged = EventType(rawValue: "queue.account-changed.v1")

    /// Every kind of event that this version knows.
    public static let all: Set<EventType> = [
        .productChanged, .transactionPurchasing, .transactionDeferred, .transactionPurchased,
        .transactionFailed, .transactionRestored, .transactionRefunded, .transactionApproved,
        .strayCharged, .strayChargeReturned, .receiptIssued, .receiptReissued, .queueChanged,
        .transactionFinished, .deliveryConfirmed, .accountChanged, .queueAccountChanged,
    ]
}
