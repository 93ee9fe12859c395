import ClockAndIDs
import EventTypes
import Messaging
import Postgres
import StoreAPI

/// Signs notifications and stores them, in the database transaction of the change they report.
struct NotificationWriter: Sendable {
    let signer: ReceiptSigner
    let store: ReceiptStore
    let machineNow: @Sendable () -> MachineTime
    /// Returns the registration of an app, or `nil`.
    let app: @Sendable (BundleID) -> AppRegistry.App?

    /// Stores the notifications that new receipts cause, for apps that have an endpoint.
    ///
    /// - Returns: Whether a notification is due.
    func write(
        _ signed: [SignedTransaction],
        _ saved: SavedReceipts,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        let planned = NotificationRules.notifications(of: signed, saved)
        guard !planned.isEmpty else { return false }
        let bundles = Set(planned.map(\.signed.transaction.bundleID))
        let endpoints = try NotificationStore.endpoints(of: bundles, on: connection)
        let wanted = planned.filter { endpoints[$0.signed.transaction.bundleID] != nil }
        guard !wanted.isEmpty else { return false }
        let notifications = try wanted.map { planned in
            let signed = planned.signed
            let text = JWSSerialization.joined(
                header: signer.chain.header,
                payload: signed.payload,
                signature: signed.signature
            )
            return try sign(
                planned.kind,
                in: signed.transaction.bundleID,
                about: signed.transaction.id,
                occurrence: planned.occurrence,
                content: .data(NotificationPayload.AppEvent(signedTransaction: text)),
                at: max(now, signed.signedAt)
            )
        }
        try insert(notifications, at: now, on: connection)
        return true
    }

    /// Stores the notifications that changes of subscriptions cause, for apps that have an endpoint.
    ///
    /// Each is signed later than the one before it about the same subscription, so that merchants
    /// can order them even if the store's clock stands (rule S250).
    ///
    /// - Parameters:
    ///   - changes: Changes that were not known before, in their order. Their transactions are
    ///     signed already.
    ///   - now: The present.
    ///   - connection: A connection with an open database transaction.
    /// - Returns: Whether a notification is due.
    /// - Throws: `PostgresError`; ``ReceiptsError`` if a transaction has no receipt.
    func write(
        _ changes: [SubscriptionChanged],
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> Bool {
        guard !changes.isEmpty else { return false }
        let endpoints = try NotificationStore.endpoints(
            of: Set(changes.map(\.subscription.bundleID)),
            on: connection
        )
        let wanted = changes.filter { endpoints[$0.subscription.bundleID] != nil }
            .flatMap(SubscriptionNotificationRules.notifications)
        guard !wanted.isEmpty else { return false }
        var signedAt = try SubscriptionStatusStore.lastNotified(
            Set(wanted.map(\.subscription.id)),
            on: connection
        )
        var receipts: [TransactionID: ServerAPIStore.StoredReceipt] = [:]
        for (bundle, planned) in Dictionary(grouping: wanted, by: \.subscription.bundleID) {
            let found = try NotificationStore.receipts(
                of: Set(planned.map(\.transactionID)),
                in: bundle,
                on: connection
            )
            receipts.merge(found) { $1 }
        }
        let winBacks = try SubscriptionProductStore.winBacks(
            of: wanted.map(\.subscription),
            on: connection
        )
        let notifications = try wanted.map { planned in
            let subscription = planned.subscription
            guard let receipt = receipts[planned.transactionID] else {
                throw ReceiptsError(
                    code: .receiptMissing,
                    detail: "Subscription \(subscription.id) changed to version "
                        + "\(subscription.version), and transaction \(planned.transactionID) of "
                        + "the change has no receipt."
                )
            }
            let time = max(now, signedAt[subscription.id]?.advanced(by: .milliseconds(1)) ?? now)
            signedAt[subscription.id] = time
            return try sign(
                planned.kind,
                in: subscription.bundleID,
                about: subscription.id,
                occurrence: Int32(subscription.version),
                content: .data(
                    try event(of: subscription, receipt, winBacks: winBacks, at: time)
                ),
                at: time
            )
        }
        try insert(notifications, at: now, on: connection)
        try SubscriptionStatusStore.record(lastNotified: signedAt, on: connection)
        return true
    }

    /// Makes the content of a notification about a transaction, and about its subscription if it
    /// belongs to one, with the win-back offers of the moment.
    func event(
        of subscription: Subscription?,
        _ receipt: ServerAPIStore.StoredReceipt,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> NotificationPayload.AppEvent {
        let winBacks = try SubscriptionProductStore.winBacks(
            of: subscription.map { [$0] } ?? [],
            on: connection
        )
        return try event(of: subscription, receipt, winBacks: winBacks, at: time)
    }

    private func event(
        of subscription: Subscription?,
        _ receipt: ServerAPIStore.StoredReceipt,
        winBacks: EligibleWinBacks,
        at time: StoreTime
    ) throws -> NotificationPayload.AppEvent {
        let transaction = try signer.jws(of: receipt, at: time)
        guard let subscription else {
            return NotificationPayload.AppEvent(signedTransaction: transaction)
        }
        let info = RenewalInfoPayload(
            subscription,
            of: try RenewalInfoPayload.Customer(payload: receipt.payload),
            winBacks: winBacks,
            environment: signer.environment,
            signedAt: time
        )
        return NotificationPayload.AppEvent(
            signedTransaction: transaction,
            signedRenewalInfo: try signer.compactJWS(of: info.encoded()),
            status: subscription.state.status
        )
    }

    /// Stores a notification that was requested.
    func write(
        _ kind: NotificationKind,
        in bundle: BundleID,
        about transaction: TransactionID?,
        content: NotificationPayload.Content,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> EventID {
        let notification = try sign(
            kind,
            in: bundle,
            about: transaction,
            content: content,
            isAskedFor: true,
            at: now
        )
        try insert([notification], at: now, on: connection)
        return notification.id
    }

    /// Stores a notification about a transaction, unless it is stored already.
    func write(
        _ kind: NotificationKind,
        in bundle: BundleID,
        about transaction: TransactionID,
        occurrence: Int32,
        _ event: NotificationPayload.AppEvent,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        let notification = try sign(
            kind,
            in: bundle,
            about: transaction,
            occurrence: occurrence,
            content: .data(event),
            at: now
        )
        try insert([notification], at: now, on: connection)
    }

    /// Stores the summary of a request to extend all subscribers of a product.
    ///
    /// The caller stores it once for a request.
    func write(
        _ summary: NotificationRequest.Summary,
        in bundle: BundleID,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        let notification = try sign(
            .renewalExtensionSummary,
            in: bundle,
            about: nil,
            content: .summary(summary),
            at: now
        )
        try insert([notification], at: now, on: connection)
    }

    private func insert(
        _ notifications: [SignedNotification],
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        try NotificationStore.insert(
            notifications,
            dueAt: machineNow(),
            chainNumber: try store.number(of: signer.chain, at: now, on: connection),
            on: connection
        )
    }

    private func sign(
        _ kind: NotificationKind,
        in bundle: BundleID,
        about transaction: TransactionID?,
        occurrence: Int32 = 0,
        content: NotificationPayload.Content,
        isAskedFor: Bool = false,
        at time: StoreTime
    ) throws -> SignedNotification {
        let id = EventID(time: time)
        let payload = NotificationPayload(
            id: id,
            kind: kind,
            bundleID: bundle,
            appAppleID: app(bundle)?.appAppleID,
            environment: signer.environment,
            signedAt: time,
            content: content
        ).encoded()
        return SignedNotification(
            id: id,
            kind: kind,
            bundleID: bundle,
            transactionID: transaction,
            occurrence: occurrence,
            isAskedFor: isAskedFor,
            signedAt: time,
            payload: NotificationText.stored(payload, header: signer.chain.header),
            signature: try signer.signature(of: payload)
        )
    }
}
