/// Which part of the broker's topics is read.
struct BrokerRange: Hashable, Sendable {
    /// One partition; all of them if none is named.
    var partition: Int32?
    /// The first offset.
    var from: Int64?
    /// The last offset.
    var to: Int64?
}

/// What the broker has of one partition.
struct BrokerPartition: Encodable, Hashable, Sendable {
    let topic: String
    let partition: Int32
    /// The first offset that it still has.
    let first: Int64
    /// The last that its producer has had confirmed, when the reading began.
    let last: Int64
    /// How many events of the producer's own publishing were read of it.
    var events = 0
    /// How many messages were passed by: replays, which say nothing new, and repeats.
    var passed = 0
    /// Whether it was read to the last offset that was asked for.
    var isWhole = false
}

/// What was found in the broker.
struct BrokerReport: Encodable, Hashable, Sendable {
    var partitions: [BrokerPartition] = []
    /// What of the log's events in these topics the broker does not have, by service.
    var missing: [Missing] = []
    /// Events of versions that are not known here, and messages that are no events, by their places.
    var unreadable: [String] = []

    /// What a broker lacks of a service's log.
    struct Missing: Encodable, Hashable, Sendable {
        let service: String
        let events: Int
        /// The first and the last of them, as `xid:position`.
        let first: String
        let last: String
    }

    /// The most places that are named.
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
    /// Notes what cannot be read; of very many the first.
    mutating func note(_ problem: String) {
        if unreadable.count < Self.unreadableMax { unreadable.append(problem) }
    }
}
