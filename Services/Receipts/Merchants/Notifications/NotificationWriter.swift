import ClockAndIDs
import EventTypes
import Messaging
import Postgres

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
