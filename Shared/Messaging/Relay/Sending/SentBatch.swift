import Kafka
import Seals
import Synchronization

/// Rows that the relay has sent together, and what the broker says of them.
final class SentBatch: Sendable {
    /// The rows, in the order of the log.
    let rows: [OutboxRow]
    /// The place of the last row.
    let place: LogPlace
    /// The messages of those rows that are published.
    let records: [KafkaRecord]
    /// The newest event of each chain, these included.
    let tips: ChainTips
    /// The time at which the spans of the events begin.
    let start: UInt64
    /// Whether later events may be sent before the broker has confirmed these.
    let mayBeFollowed: Bool
    private let reports = Mutex<Result<[KafkaDelivery], KafkaError>?>(nil)

    /// Makes a batch that the broker has not confirmed.
    init(
        rows: [OutboxRow],
        place: LogPlace,
        records: [KafkaRecord],
        tips: ChainTips,
        start: UInt64,
        mayBeFollowed: Bool
    ) {
        self.rows = rows
        self.place = place
        self.records = records
        self.tips = tips
        self.start = start
        self.mayBeFollowed = mayBeFollowed
    }

    /// The broker's answer; `nil` until every message has one.
    var answer: Result<[KafkaDelivery], KafkaError>? { reports.withLock { $0 } }

    /// Notes the broker's answer.
    func note(_ answer: Result<[KafkaDelivery], KafkaError>) {
        reports.withLock { $0 = answer }
    }
}
