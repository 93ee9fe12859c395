import Kafka
import Seals

/// The batches that a relay has sent and behind which its place is not stored yet, oldest first.
///
/// While little arrives, the relay sends the next events before the broker has confirmed the last ones, so
/// that none waits for an answer that does not concern it. The place still moves in order, over batches that
/// are confirmed. After a crash all others are published again.
///
/// Under load it waits for the answers. More events gather meanwhile, and a few large batches cost less than
/// many small ones.
struct SentBatches {
    /// The number of events from which on the relay waits for the broker.
    static let eventsMax = 64
    /// The number of batches from which on it waits.
    static let batchesMax = 4

    private var batches: [SentBatch] = []

    /// Makes a relay's batches before it has sent any.
    init() {}

    /// Whether the broker has confirmed everything, and the place behind it is stored.
    var isEmpty: Bool { batches.isEmpty }
    /// The newest batch.
    var last: SentBatch? { batches.last }
    /// Whether the broker has answered for every batch.
    var areAnswered: Bool { batches.allSatisfy { $0.answer != nil } }

    /// Whether the relay may send more before the broker has confirmed these.
    var mayGrow: Bool {
        batches.count < Self.batchesMax
            && batches.reduce(0) { $0 + $1.rows.count } < Self.eventsMax
            && batches.allSatisfy(\.mayBeFollowed)
    }

    /// Adds a batch that was sent behind all others.
    mutating func append(_ batch: SentBatch) { batches.append(batch) }

    /// Takes the oldest batches, as far as the broker has confirmed them and one seal can cover them.
    ///
    /// - Returns: Each with the places of its messages in the broker's log; none if the oldest batch has no
    ///   answer yet, or has failed.
    mutating func takeConfirmed() -> [(batch: SentBatch, deliveries: [KafkaDelivery])] {
        var confirmed: [(batch: SentBatch, deliveries: [KafkaDelivery])] = []
        var rows = 0
        for batch in batches {
            guard case .success(let deliveries)? = batch.answer else { break }
            rows += batch.rows.count
            guard rows <= LogSeal.rowsMax || confirmed.isEmpty else { break }
            confirmed.append((batch, deliveries))
        }
        batches.removeFirst(confirmed.count)
        return confirmed
    }

    /// Takes all batches if the oldest has failed, because every later one has to be sent again behind it.
    ///
    /// - Returns: The oldest batch and its error; `nil` if it has not failed.
    mutating func takeFailed() -> (batch: SentBatch, error: KafkaError)? {
        guard let first = batches.first, case .failure(let error)? = first.answer else {
            return nil
        }
        batches = []
        return (first, error)
    }
}
