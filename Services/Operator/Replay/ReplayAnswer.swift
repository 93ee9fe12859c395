import EventTypes
import OperatorCore

/// The plan of a replay as it is printed.
struct ReplayAnswer: Encodable {
    let events: Int
    let keys: Int
    let first: String?
    let last: String?
    let topics: [String: [String: Int]]
    /// For each consumer, the number of events that it has not applied and so would apply.
    let wouldAct: [String: Int]
    let consumer: String?
    let refused: [String: Int]
    /// The content of the broker, if it was read.
    let broker: BrokerReport?

    init(_ plan: ReplayOutline, consumer: String?, broker: BrokerReport? = nil) {
        self.broker = broker
        events = plan.events
        keys = plan.keyCount
        first = plan.first?.description
        last = plan.last?.description
        topics = plan.counts
        wouldAct = plan.unapplied
        self.consumer = consumer
        refused = plan.refused
    }

    /// The plan for people.
    func text(_ palette: Palette) -> String {
        var lines = ["\(events) events of \(keys) accounts or products"]
        if let first, let last { lines.append("from \(first) to \(last)") }
        var rows = [["TOPIC", "TYPE", "EVENTS"]]
        for (topic, types) in topics.sorted(by: { $0.key < $1.key }) {
            for (type, count) in types.sorted(by: { $0.key < $1.key }) {
                rows.append([topic, type, "\(count)"])
            }
        }
        lines.append(palette.table(rows, numbers: [2], indent: 2))
        for (reader, count) in wouldAct.sorted(by: { $0.key < $1.key }) {
            lines.append(
                count == 0
                    ? "\(reader) has done all of it and would do nothing"
                    : "\(reader) has not done \(count) of them and would do them"
            )
        }
        if let consumer { lines.append("meant for \(consumer) only") }
        for (reason, count) in refused.sorted(by: { $0.key < $1.key }) {
            lines.append("not sent: \(count), \(reason)")
        }
        return lines.joined(separator: "\n")
    }
}
