import EventTypes
import Postgres

/// Signs and stores the notifications about buyers' requests for refunds.
struct RefundRequestNotificationWriter: Sendable {
    let writer: NotificationWriter

    /// Stores the notifications that buyers' requests for refunds cause, for apps that have an endpoint.
    ///
    /// - Parameters:
    ///   - requests: Requests that are new or were just decided, in their order. Their transactions are
    ///     signed already.
    ///   - now: The present.
    ///   - connection: A connection with an open database transaction.
    /// - Returns: Whether a notification is due.
    /// - Throws: `PostgresError`; ``ReceiptsError`` if a transaction has no receipt.
    func write(
        _ requests: [RequestedRefund],
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        let planned = requests.compactMap(RefundRequestNotificationRules.notification)
        guard !planned.isEmpty else { return false }
        let endpoints = try NotificationStore.endpoints(
            of: Set(planned.map(\.request.bundleID)),
            on: connection
        )
        let wanted = planned.filter { endpoints[$0.request.bundleID] != nil }
        for planned in wanted {
            try write(planned, at: now, on: connection)
        }
        return !wanted.isEmpty
    }

    private func write(
        _ planned: RefundRequestNotificationRules.Planned,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        let request = planned.request
        let receipts = try NotificationStore.receipts(
            of: [request.transactionID],
            in: request.bundleID,
            on: connection
        )
        guard let receipt = receipts[request.transactionID] else {
            throw ReceiptsError(
                code: .receiptMissing,
                detail: "A refund of \(request.transactionID) is requested, which has no receipt."
            )
        }
        let subscription = try NotificationHandler.subscription(
            of: request.transactionID,
            on: connection
        )
        var time = now
        if let subscription {
            time = try SubscriptionStatusStore.noteNotification(
                about: subscription.id,
                at: now,
                on: connection
            )
        }
        var event = try writer.event(of: subscription, receipt, at: time, on: connection)
        event.consumptionRequestReason = planned.reason
        try writer.write(
            planned.kind,
            in: request.bundleID,
            about: request.transactionID,
            occurrence: Int32(request.number),
            event,
            at: time,
            on: connection
        )
    }
}
