import Callbacks
import EventTypes
import Messaging
import ServiceKit

/// The settings of `fulfillment`, beyond those that every service has.
struct FulfillmentSettings: Sendable {
    let common: CommonSettings
    let serverKeysDirectory: String
    let serverRequestsPerSecond: Int
    let purchasingDelay: Duration
    let streams: QueueHub.Limits
    let heartbeat: Duration
    let finishBatchMax: Int
    let finishPendingMax: Int
    let contents: ContentSettings
    let webhookSecret: String
    let webhooks: CallbackLimits
    let webhookRetries: RetryPolicy
    let webhookTimeout: Duration
    let webhookLease: Duration

    init(_ reader: inout SettingsReader) {
        common = CommonSettings(&reader, service: .fulfillment, defaultPort: 8084)
        serverKeysDirectory = reader.string(
            "SERVER_KEYS_DIRECTORY",
            "Public keys of merchants' servers: <key id>.json. They sign tokens of the server API."
        )
        serverRequestsPerSecond = reader.integer(
            "SERVER_API_REQUESTS_PER_SECOND",
            default: 50,
            in: 1...100_000,
            "Requests of one server key that this instance answers; further ones get 429."
        )
        purchasingDelay = reader.milliseconds(
            "PURCHASING_DELAY_MS",
            default: .seconds(1),
            in: .zero...(.seconds(60)),
            "How long a payment may take before queues show it as purchasing."
        )
        streams = QueueHub.Limits(
            streamsMax: reader.integer(
                "STREAMS_MAX",
                default: 8000,
                in: 1...100_000,
                "Streams of queues that this instance serves at once; further ones get 503."
            ),
            streamsPerAccountMax: reader.integer(
                "STREAMS_PER_ACCOUNT_MAX",
                default: 20,
                in: 1...1000,
                "Streams that one account may have on this instance; further ones get 429."
            ),
            bufferedMax: reader.integer(
                "STREAM_BUFFER_MAX",
                default: 256,
                in: 1...100_000,
                "Changes that a stream may lag behind before it is closed; its client resumes."
            )
        )
        heartbeat = reader.milliseconds(
            "STREAM_HEARTBEAT_MS",
            default: .seconds(15),
            in: .milliseconds(50)...(.seconds(300)),
            "Between the heartbeats of a stream; each also finds what a broken broker lost."
        )
        finishBatchMax = reader.integer(
            "FINISH_BATCH_MAX",
            default: 256,
            in: 1...10_000,
            "Finishes that share one database commit."
        )
        finishPendingMax = reader.integer(
            "FINISH_PENDING_MAX",
            default: 10_000,
            in: 1...1_000_000,
            "Finishes that may wait; further ones get 503."
        )
        contents = ContentSettings(&reader)
        webhookSecret = String(
            decoding: reader.file(
                "WEBHOOK_SECRET_FILE",
                "What webhooks are signed with: whsec_ and base64 of 24 to 64 bytes."
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
        webhookRetries = RetryPolicy(base: base, ceiling: ceiling)
        webhooks = CallbackLimits(
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
                "How long at most until webhooks that another instance left are taken on."
            )
        )
        webhookTimeout = reader.milliseconds(
            "WEBHOOK_TIMEOUT_MS",
            default: .seconds(10),
            in: .milliseconds(50)...(.seconds(120)),
            "How long a webhook's recipient may take to answer."
        )
        webhookLease = reader.milliseconds(
            "WEBHOOK_LEASE_MS",
            default: .seconds(30),
            in: .milliseconds(100)...(.seconds(600)),
            "After it a webhook whose sender was killed is sent again; longer than the timeout."
        )
        if ceiling < base {
            reader.refuse("WEBHOOK_RETRY_CEILING_MS", "is below WEBHOOK_RETRY_BASE_MS")
        }
        if webhookLease <= webhookTimeout {
            reader.refuse("WEBHOOK_LEASE_MS", "is not longer than WEBHOOK_TIMEOUT_MS")
        }
    }
}
