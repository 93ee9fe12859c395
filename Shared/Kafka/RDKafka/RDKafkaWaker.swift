import CLibrdkafka
import Synchronization

/// Ends a consumer's wait for a message from another thread.
final class RDKafkaWaker: Sendable {
    /// The consumer's queue until it is destroyed.
    private let queue: Mutex<RDKafkaPointer?>

    init(_ queue: RDKafkaPointer) { self.queue = Mutex(queue) }

    /// Ends the present wait, or the next one if nobody waits.
    func wake() {
        queue.withLock { queue in
            if let queue { rd_kafka_queue_yield(queue.raw) }
        }
    }

    /// Forgets the queue, which is about to be destroyed.
    func close() { queue.withLock { $0 = nil } }
}
