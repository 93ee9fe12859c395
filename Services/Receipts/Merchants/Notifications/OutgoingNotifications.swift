import Callbacks
import EventTypes
import Logging
import Metrics
import Postgres

/// The pending notifications, each until it is confirmed or its last try has failed.
///
/// A try and its record are separate steps. A service that is killed in between sends the same
/// notification again with the same UUID, by which the merchant recognizes it (trap 52).
struct OutgoingNotifications: OutgoingCalls {
    let client: PostgresClient
    let transport: CallbackTransport
    let signer: ReceiptSigner
    /// The time that a sender has for a try and for recording it.
    let lease: Duration
    let now: @Sendable () -> StoreTime
    let machineNow: @Sendable () -> MachineTime
    let logger: Logger

    func take(limit: Int, excluding hosts: [String]) async throws -> [OutgoingNotification] {
        try await client.withTransaction { [lease, machineNow] connection in
            let now = machineNow()
            return try NotificationStore.lease(
                limit: limit,
                excluding: hosts,
                now: now,
                until: now.advanced(by: lease),
                on: connection
            )
        }
    }

    func untilNextDue() async throws -> Duration? {
        let due = try await client.withConnection { try NotificationStore.nextDue(on: $0) }
        return due.map { max($0.duration(since: machineNow()), .zero) }
    }

    func perform(_ notification: OutgoingNotification) async {
        do {
            let result = try await send(notification)
            Counter(label: "notification_attempts", dimensions: [("result", result.rawValue)])
                .increment()
            if result != .success {
                logger.debug(
                    "A notification is not confirmed",
                    metadata: [
                        "notification.uuid": "\(notification.id)",
                        "notification.result": "\(result.rawValue)",
                        "notification.attempt": "\(notification.attempt)",
                        "notification.host": "\(notification.host)",
                    ]
                )
            }
            let attempt = NotificationAttempt(
                id: notification.id,
                attempt: notification.attempt,
                time: now(),
                result: result,
                nextAttemptAt: result == .success
                    ? nil
                    : NotificationRules.nextAttempt(
                        after: notification.attempt,
                        failedAt: machineNow(),
                        in: signer.environment
                    )
            )
            try await client.withTransaction { connection in
                try NotificationStore.record([attempt], on: connection)
            }
        } catch {
            // Sent or not, the outcome is not recorded, so it is due again after its lease, with
            // the same UUID.
            logger.debug(
                "The outcome of a notification is not recorded",
                metadata: ["notification.uuid": "\(notification.id)", "error": "\(error)"]
            )
        }
    }

    func shutDown() async throws {
        try await transport.shutDown()
    }

    /// Posts a notification in Apple's format: JSON with one member.
    func send(_ notification: OutgoingNotification) async throws -> CallbackResult {
        let signed = try NotificationSigner(signer: signer, now: now)
            .signedPayload(notification.content)
        // The compact form contains no characters that JSON has to escape.
        return try await transport.post(
            Array("{\"signedPayload\":\"\(signed)\"}".utf8),
            to: notification.url
        )
    }
}
