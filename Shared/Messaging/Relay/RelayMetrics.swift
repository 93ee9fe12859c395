import EventTypes
import Metrics

/// What the relay that leads counts.
///
/// Events are counted by kind, so that `rate(outbox_events_published_total{type=…})` is the rate of
/// purchases by state. What is published again after the broker's loss is counted again.
struct RelayMetrics: Sendable {
    private let logsLost = Counter(label: "outbox_logs_lost")
    private let lag: [String: Gauge]

    /// Makes the metrics.
    ///
    /// - Parameter consumers: Who reads what the relay publishes.
    init(consumers: Set<String>) {
        lag = Dictionary(
            uniqueKeysWithValues: consumers.map { consumer in
                let label = "outbox_consumer_lag_events"
                return (consumer, Gauge(label: label, dimensions: [("consumer", consumer)]))
            }
        )
    }

    /// Takes note of events that the broker has stored.
    func published(_ types: some Sequence<EventType>) {
        var counts: [EventType: Int] = [:]
        for type in types { counts[type, default: 0] += 1 }
        for (type, count) in counts {
            Counter(label: "outbox_events_published", dimensions: [("type", type.rawValue)])
                .increment(by: count)
        }
    }

    /// Takes note that the broker had lost the log.
    func lostLog() { logsLost.increment() }

    /// Takes note of what consumers have yet to confirm.
    func record(lag counts: [String: Int64]) {
        for (consumer, gauge) in lag { gauge.record(counts[consumer] ?? 0) }
    }

    /// Says that no consumer is behind, as far as this process knows.
    func forgetLag() {
        for gauge in lag.values { gauge.record(0) }
    }
}
