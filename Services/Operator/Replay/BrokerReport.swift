import OperatorCore

/// The part of the broker's topics that is read.
struct BrokerRange: Hashable, Sendable {
    /// One partition; all of them if none is named.
    var partition: Int32?
    /// The first offset.
    var from: Int64?
    /// The last offset.
    var to: Int64?
}

/// The part of one partition that the broker has.
struct BrokerPartition: Encodable, Hashable, Sendable {
    let topic: String
    let partition: Int32
    /// The first offset that it still has.
    let first: Int64
    /// The last offset that was confirmed to the producer when the reading began.
    let last: Int64
    /// The number of events read that the producer itself published.
    var events = 0
    /// The number of messages skipped: replays and duplicates.
    var passed = 0
    /// Whether the partition was read to the last requested offset.
    var isWhole = false
}

/// The result of reading the broker.
struct BrokerReport: Encodable, Hashable, Sendable {
    var partitions: [BrokerPartition] = []
    /// The log's events in these topics that the broker lacks, by service.
    var missing: [Missing] = []
    /// Events of unknown versions, and messages that are not events, by their places.
    var unreadable: [String] = []

    /// The events of a service's log that the broker lacks.
    struct Missing: Encodable, Hashable, Sendable {
        let service: String
        let events: Int
        /// The places of the first and the last of them, as `xid:position`.
        let first: String
        let last: String
    }

    /// The largest number of places that are named.
    static let unreadableMax = 20

    func text(_ palette: Palette) -> String {
        var rows = [["TOPIC", "PARTITION", "FIRST", "LAST", "EVENTS", "PASSED BY"]]
        for part in partitions {
            let last = part.isWhole ? "\(part.last)" : "\(part.last), not reached"
            rows.append([
                part.topic, "\(part.partition)", "\(part.first)", last, "\(part.events)",
                "\(part.passed)",
            ])
        }
        var lines = ["The broker has", palette.table(rows, numbers: [1, 2, 3, 4, 5], indent: 2)]
        for missing in missing {
            lines.append(
                "and not \(missing.events) events of the log of \(missing.service), "
                    + "from \(missing.first) to \(missing.last)"
            )
        }
        lines += unreadable.map { "not readable: \($0)" }
        return lines.joined(separator: "\n")
    }
}

extension BrokerReport {
    /// Notes an event that cannot be read, up to the limit.
    mutating func note(_ problem: String) {
        if unreadable.count < Self.unreadableMax { unreadable.append(problem) }
    }
}
