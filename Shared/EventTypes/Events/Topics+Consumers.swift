extension Topics {
    /// Returns the event types that a service handles.
    ///
    /// It skips all other events of its topics.
    ///
    /// This is the only definition. Event handlers use it, and so does the count of a service's
    /// pending events.
    ///
    /// - Parameter consumer: The service. Its name is also the name of its consumer group.
    /// - Returns: The event types; an empty set for a service that consumes no events.
    public static func eventTypes(actedOnBy consumer: ServiceName) -> Set<EventType> {
        switch consumer {
        case .payments:
            [.productChanged, .transactionFinished]
        case .receipts:
            [
                .transactionPurchased, .transactionRestored, .transactionRefunded,
                .transactionRefundReversed, .transactionFinished, .subscriptionChanged,
                .refundRequestChanged, .transactionExtended, .massExtensionChanged,
                .productChanged,
            ]
        case .fulfillment:
            // A purchased or restored transaction enters the queue together with its receipt. No
            // client sees it before that receipt, so the transaction's own events are skipped.
            [
                .transactionPurchasing, .transactionWaitChanged, .transactionDeferred,
                .transactionFailed, .transactionRefunded, .transactionRefundReversed,
                .receiptIssued, .receiptReissued, .accountChanged, .subscriptionChanged,
                .productChanged,
            ]
        case .catalog: []
        }
    }
}
