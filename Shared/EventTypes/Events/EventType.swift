/// The name and version of an event type: the `ce_type` of CloudEvents 1.0.
public struct EventType: OpenEnum {
    /// The name in its wire format.
    public let rawValue: String
    /// Wraps a name, including one that this version does not know.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name without its version.
    ///
    /// For `transaction.purchased.v1` it is `transaction.purchased`.
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
    /// The names of a subscription group were given or changed.
    ///
    /// Data: ``SubscriptionGroupChanged``.
    public static let subscriptionGroupChanged = EventType(
        rawValue: "subscription-group.changed.v1"
    )
    /// A payment was accepted.
    ///
    /// Data: ``TransactionChanged``, as for the next eight types.
    public static let transactionPurchasing = EventType(rawValue: "transaction.purchasing.v1")
    /// A payment waits for its buyer, as with 3-D Secure, or no longer does; it is still `purchasing`.
    public static let transactionWaitChanged = EventType(rawValue: "transaction.wait-changed.v1")
    /// A transaction waits for approval.
    public static let transactionDeferred = EventType(rawValue: "transaction.deferred.v1")
    /// A charge was confirmed.
    public static let transactionPurchased = EventType(rawValue: "transaction.purchased.v1")
    /// A payment ended without a charge.
    public static let transactionFailed = EventType(rawValue: "transaction.failed.v1")
    /// A finished purchase was restored.
    public static let transactionRestored = EventType(rawValue: "transaction.restored.v1")
    /// A charge was given back, in full or in part.
    public static let transactionRefunded = EventType(rawValue: "transaction.refunded.v1")
    /// A refund was reversed: the store has the money again.
    public static let transactionRefundReversed = EventType(
        rawValue: "transaction.refund-reversed.v1"
    )
    /// The period of a subscription that a transaction pays for was extended, or what a family shares
    /// has followed a change of the buyer's subscription.
    public static let transactionExtended = EventType(rawValue: "transaction.extended.v1")
    /// An approver approved a transaction (Ask to Buy).
    ///
    /// The charge has its own event.
    ///
    /// Data: ``TransactionChanged``, as for the next two types.
    public static let transactionApproved = EventType(rawValue: "transaction.approved.v1")
    /// A charge was confirmed after its transaction had failed.
    ///
    /// It is being returned.
    public static let strayCharged = EventType(rawValue: "transaction.stray-charged.v1")
    /// A stray charge was returned.
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
    /// The settings of an account changed.
    ///
    /// Data: ``AccountChanged``.
    public static let accountChanged = EventType(rawValue: "account.changed.v1")
    /// An account changed, published as a change of its queue.
    ///
    /// Data: ``QueueAccountChanged``.
    public static let queueAccountChanged = EventType(rawValue: "queue.account-changed.v1")
    /// A subscription changed without a transaction, published as a change of its account's queue.
    ///
    /// Data: ``QueueSubscriptionChanged``.
    public static let queueSubscriptionChanged = EventType(
        rawValue: "queue.subscription-changed.v1"
    )

    /// A subscription changed.
    ///
    /// Data: ``SubscriptionChanged``.
    public static let subscriptionChanged = EventType(rawValue: "subscription.changed.v1")

    /// A buyer asked for a refund, or somebody decided about the request.
    ///
    /// Data: ``RefundRequestChanged``.
    public static let refundRequestChanged = EventType(rawValue: "refund-request.changed.v1")
    /// A request to extend all subscribers of a product was accepted, has failed for one of them, or is
    /// complete.
    ///
    /// Data: ``MassExtensionChanged``.
    public static let massExtensionChanged = EventType(rawValue: "mass-extension.changed.v1")

    /// A family was made, has other members, or has ended.
    ///
    /// Data: ``FamilyChanged``.
    public static let familyChanged = EventType(rawValue: "family.changed.v1")

    /// The store's clock was set, frozen or let run.
    ///
    /// Data: ``ClockChanged``.
    public static let clockChanged = EventType(rawValue: "clock.changed.v1")

    /// All event types that this version knows.
    public static let all: Set<EventType> = [
        .productChanged, .transactionPurchasing, .transactionDeferred, .transactionPurchased,
        .transactionFailed, .transactionRestored, .transactionRefunded, .transactionRefundReversed,
        .transactionApproved, .strayCharged, .strayChargeReturned, .receiptIssued,
        .receiptReissued, .queueChanged, .transactionFinished, .deliveryConfirmed, .accountChanged,
        .queueAccountChanged, .queueSubscriptionChanged, .subscriptionChanged, .clockChanged,
        .subscriptionGroupChanged, .refundRequestChanged, .familyChanged, .transactionExtended,
        .massExtensionChanged, .transactionWaitChanged,
    ]
}
