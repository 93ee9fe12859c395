import EventTypes
import Postgres
import StoreAPI

/// Signs and stores the notifications about requests to extend all subscribers of a product (rows e41
/// and e42 of docs/subscriptions.md).
///
/// A subscription that is extended has its own notification, `RENEWAL_EXTENDED`.
struct MassExtensionNotificationWriter: Sendable {
    let writer: NotificationWriter

    /// Stores the notifications that such requests cause, for apps that have an endpoint.
    ///
    /// - Parameters:
    ///   - changes: Changes of requests, in the order of their events. Only failures and completions
    ///     are notified.
    ///   - now: The present.
    ///   - connection: A connection with an open database transaction.
    /// - Returns: Whether a notification is due.
    /// - Throws: `PostgresError`; ``ReceiptsError`` if a transaction has no receipt.
    func write(
        _ changes: [MassExtensionChanged],
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        let reported = changes.filter { $0.failed != nil || $0.request.completedAt != nil }
        guard !reported.isEmpty else { return false }
        let endpoints = try NotificationStore.endpoints(
            of: Set(reported.map(\.request.bundleID)),
            on: connection
        )
        let wanted = reported.filter { endpoints[$0.request.bundleID] != nil }
        for change in wanted {
            if let subscription = change.failed {
                try write(failureOf: change.request, for: subscription, change, now, on: connection)
            } else {
                try write(summaryOf: change.request, at: now, on: connection)
            }
        }
        return !wanted.isEmpty
    }

    private func write(
        failureOf request: MassExtension,
        for subscription: Subscription,
        _ change: MassExtensionChanged,
        _ now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        let id = subscription.runningPeriod(at: change.changedAt).transactionID
        let receipts = try NotificationStore.receipts(
            of: [id],
            in: request.bundleID,
            on: connection
        )
        guard let receipt = receipts[id] else {
            throw ReceiptsError(
                code: .receiptMissing,
                detail:
                    "Subscription \(subscription.id) could not be extended, and its transaction "
                    + "\(id) has no receipt."
            )
        }
        let time = try SubscriptionStatusStore.noteNotification(
            about: subscription.id,
            at: now,
            on: connection
        )
        try writer.write(
            .renewalExtensionFailure,
            in: request.bundleID,
            about: subscription.id,
            occurrence: Int32(clamping: request.number),
            try writer.event(of: subscription, receipt, at: time, on: connection),
            at: time,
            on: connection
        )
    }

    private func write(
        summaryOf request: MassExtension,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        guard try ExtensionSummaryStore.note(request.number, at: now, on: connection) else {
            return
        }
        let summary = NotificationRequest.Summary(
            requestIdentifier: request.requestIdentifier,
            productId: request.productID.rawValue,
            storefrontCountryCodes: request.storefronts ?? [],
            succeededCount: request.succeededCount,
            failedCount: request.failedCount
        )
        try writer.write(summary, in: request.bundleID, at: now, on: connection)
    }
}
