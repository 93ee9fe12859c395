import EventTypes
import ServiceKit

/// The settings of `fulfillment`, beyond those that every service has.
struct FulfillmentSettings: Sendable {
    let common: CommonSettings
    let servers: ServerAPISettings
    let purchasingDelay: Duration
    let streams: QueueHub.Limits
    let heartbeat: Duration
    let finishBatchMax: Int
    let finishPendingMax: Int
    let contents: ContentSettings
    let webhooks: WebhookSettings

    init(_ reader: inout SettingsReader) {
        common = CommonSettings(&reader, service: .fulfillment, defaultPort: 8084)
        servers = ServerAPISettings(&reader)
        purchasingDelay = reader.milliseconds(
            "PURCHASING_DELAY_MS",
            default: .seconds(1),
            in: .zero...(.seconds(60)),
            "How long a payment may take before queues show it as purchasing."
        )
        streams = QueueHub.Limits(&reader)
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
        webhooks = WebhookSettings(&reader)
    }
}

extension QueueHub.Limits {
    fileprivate init(_ reader: inout SettingsReader) {
        self.init(
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
    }
}
