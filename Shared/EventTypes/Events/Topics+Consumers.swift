extension Topics {
    /// The kinds of event that a service acts on; others of its topics pass it by.
    ///
    /// The one definition: handlers ask here, and so does whoever counts what a service has yet
    /// to do.
    ///
    /// - Parameter consumer: The service, whose name is its consumer group's.
    /// - Returns: The kinds; none for a service that consumes no events.
    public static func eventTypes(actedOnBy consumer: ServiceName) -> Set<EventType> {
        switch consumer {
        case .payments:
            [.productChanged, .transactionFinished]
        case .receipts:
            [
                .transactionPurchased, .transactionRestored, .transactionRefunded,
                .transactionFinished,
            ]
        case .fulfillment:
            // A purchased or restored transaction enters the queue with its receipt, so that no
            // client sees one before the receipt that proves it; its own events pass by.
            [
                .transactionPurchasing, .transactionDeferred, .transactionFailed,
                .transactionRefunded, .receiptIssued, .accountChanged,
            ]
        case .catalog: []
        }
    }
}
