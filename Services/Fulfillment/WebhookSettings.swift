import Callbacks
import Messaging
import ServiceKit

/// The settings of webhooks.
struct WebhookSettings: Sendable {
    let secret: String
    let limits: CallbackLimits
    let retries: RetryPolicy
    let timeout: Duration
    /// The time that a sender has for a try and for recording it.
    let lease: Duration

    init(_ reader: inout SettingsReader) {
        secret = String(
            decoding: reader.file(
                "WEBHOOK_SECRET_FILE",
                "The secret that signs webhooks: whsec_ and base64 of 24 to 64 bytes."
            ),
            as: UTF8.self
        )
        let base = reader.milliseconds(
            "WEBHOOK_RETRY_BASE_MS",
            default: .seconds(1),
            in: .milliseconds(1)...(.seconds(3600)),
            "The wait before a webhook's second try; it doubles from try to try."
        )
        let ceiling = reader.milliseconds(
            "WEBHOOK_RETRY_CEILING_MS",
            default: .seconds(3600),
            in: .milliseconds(1)...(.seconds(86_400)),
            "The longest wait between two tries of a webhook."
        )
        retries = RetryPolicy(base: base, ceiling: ceiling)
        limits = CallbackLimits(
            concurrency: reader.integer(
                "WEBHOOK_CONCURRENCY",
                default: 32,
                in: 1...1000,
                "Webhooks sent at once; a quarter of it to one host."
            ),
            pollInterval: reader.milliseconds(
                "WEBHOOK_POLL_MS",
                default: .seconds(5),
                in: .milliseconds(50)...(.seconds(300)),
                "How long at most until webhooks that another instance left are sent."
            )
        )
        timeout = reader.milliseconds(
            "WEBHOOK_TIMEOUT_MS",
            default: .seconds(10),
            in: .milliseconds(50)...(.seconds(120)),
            "How long a webhook's recipient may take to answer."
        )
        lease = reader.milliseconds(
            "WEBHOOK_LEASE_MS",
            default: .seconds(30),
            in: .milliseconds(100)...(.seconds(600)),
            "After it a webhook whose sender was killed is sent again; longer than the timeout."
        )
        if ceiling < base {
            reader.refuse("WEBHOOK_RETRY_CEILING_MS", "is below WEBHOOK_RETRY_BASE_MS")
        }
        if lease <= timeout {
            reader.refuse("WEBHOOK_LEASE_MS", "is not longer than WEBHOOK_TIMEOUT_MS")
        }
    }
}
