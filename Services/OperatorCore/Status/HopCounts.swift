package import Foundation

/// The events that one process of a consumer has acted on, counted by the time that they took.
///
/// Pure. The times are from an event to its effect.
package struct HopCounts: Hashable, Sendable {
    /// The number of events that took a time at most.
    package struct Bucket: Hashable, Sendable {
        /// The time in seconds; infinite for all events.
        package let seconds: Double
        /// The number of events since the process started.
        package let events: Int
    }

    /// The start of the process, by which one replica of a service is told from another.
    package let process: String
    /// The buckets of each topic, the shortest time first.
    package let topics: [String: [Bucket]]

    /// Reads them from the metrics of a service, in Prometheus' text format.
    package init(metrics: Data) {
        var process = ""
        var topics: [String: [Bucket]] = [:]
        for line in metrics.split(separator: UInt8(ascii: "\n")) {
            if line.starts(with: Self.processStart) {
                process = String(decoding: line.dropFirst(Self.processStart.count), as: UTF8.self)
            } else if line.starts(with: Self.bucketStart) {
                let text = String(decoding: line.dropFirst(Self.bucketStart.count), as: UTF8.self)
                guard let (topic, bucket) = Self.bucket(text) else { continue }
                topics[topic, default: []].append(bucket)
            }
        }
        self.process = process
        self.topics = topics.mapValues { $0.sorted { $0.seconds < $1.seconds } }
    }

    private static let processStart = Array("process_start_time_seconds ".utf8)
    private static let bucketStart = Array("event_hop_seconds_bucket{".utf8)

    /// Reads what follows the brace in `…{consumer="receipts",topic="payments.transactions",le="1"} 5`.
    private static func bucket(_ text: String) -> (topic: String, bucket: Bucket)? {
        guard let end = text.lastIndex(of: "}"),
            let events = Int(text[text.index(after: end)...].drop(while: { $0 == " " }))
        else { return nil }
        var labels: [Substring: Substring] = [:]
        for label in text[..<end].split(separator: ",") {
            let parts = label.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            labels[parts[0]] = parts[1].dropFirst().dropLast()
        }
        guard let topic = labels["topic"], let bound = labels["le"] else { return nil }
        guard let seconds = bound == "+Inf" ? Double.infinity : Double(bound) else { return nil }
        return (String(topic), Bucket(seconds: seconds, events: events))
    }
}
