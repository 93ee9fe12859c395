import Callbacks
import EventTypes
import Logging
import Metrics
import Postgres

/// The notifications that are owed, each until it is confirmed or its tries are used up.
///
/// A try and its record are apart: a service that is killed between them sends the same notification
/// again under the same UUID, by which the merchant knows it (trap 52).
struct OwedNotificationQueue: CallbackLedger {
    let client: PostgresClient
    let transport: CallbackTransport
    let signer: ReceiptSigner
    /// How long a sender has for a try and its record.
    let lease: Duration
    let now: @Sendable () -> Timestamp
    let logger: Logger

    func take(limit: Int, excluding hosts: [String]) async throws -> [OutgoingNotification] {
        try await client.withTransaction { [lease, now] connection in
            let now = now()
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
        return due.map { max($0.duration(since: now()), .zero) }
    }

    func perform(_ notification: OutgoingNotification) async {
        do {
            let result = try await send(notification)
            let time = now()
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
                time: time,
                result: result,
                nextAttemptAt: result == .success
                    ? nil
                    : NotificationRules.nextAttempt(
                        after: notification.attempt,
                        failedAt: time,
                        in: signer.environment
                    )
            )
            try await client.withTransaction { connection in
                try NotificationStore.record([attempt], on: connection)
            }
        } catch {
            // Sent or not, it is not recorded: it is due again after its lease, under the same UUID.
            logger.debug(
                "The outcome of a notification is not recorded",
                metadata: ["notification.uuid": "\(notification.id)", "error": "\(error)"]
            )
        }
    }

    func shutDown() async throws {
        try await transport.shutDown()
    }

    /// Posts a notification as Apple does: JSON with one member.
    func send(_ notification: OutgoingNotification) async throws -> CallbackResult {
        let signed = try NotificationSigner(signer: signer, now: now)
            .signedPayload(notification.content)
        // The compact form is of characters that JSON does not escape.
        return try await transport.post(
            Array("{\"signedPayload\":\"\(signed)\"}".utf8),
            to: notification.url
        )
    }
}
