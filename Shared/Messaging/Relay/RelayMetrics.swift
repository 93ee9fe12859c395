import EventTypes
import Metrics

/// The metrics of the leading relay.
///
/// Events are counted by type, so that `rate(outbox_events_published_total{type=…})` is the rate of
/// purchases by state. Events that are published again after the broker lost its log are counted
/// again.
struct RelayMetrics: Sendable {
    private let logsLost = Counter(label: "outbox_logs_lost")
    private let lag: [ServiceName: Gauge]

    /// Makes the metrics.
    ///
    /// - Parameter consumers: The consumers of the events that the relay publishes.
    init(consumers: Set<ServiceName>) {
        lag = Dictionary(
            uniqueKeysWithValues: consumers.map { consumer in
                let label = "outbox_consumer_lag_events"
                let dimensions = [("consumer", consumer.rawValue)]
                return (consumer, Gauge(label: label, dimensions: dimensions))
            }
        )
    }

    /// Counts events that the broker has stored.
    func published(_ types: some Sequence<EventType>) {
        var counts: [EventType: Int] = [:]
        for type in types { counts[type, default: 0] += 1 }
        for (type, count) in counts {
            Counter(label: "outbox_events_published", dimensions: [("type", type.rawValue)])
                .increment(by: count)
        }
    }

    /// Counts a loss of the broker's log.
    func lostLog() { logsLost.increment() }

    /// Records the number of events that each consumer has yet to confirm.
    func record(lag counts: [ServiceName: Int64]) {
        for (consumer, gauge) in lag { gauge.record(counts[consumer] ?? 0) }
    }

    /// Sets the lag of every consumer to zero: none is behind, as far as this process knows.
    func forgetLag() {
        for gauge in lag.values { gauge.record(0) }
    }
}
