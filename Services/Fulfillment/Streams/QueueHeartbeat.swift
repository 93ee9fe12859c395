import Logging
import Messaging
import ServiceLifecycle
import Synchronization

/// The heartbeat of all streams of this instance.
///
/// If `fulfillment` has published anything since the last beat, one query also reads the revisions
/// of all queues with streams. A change can be lost between the database and this instance: the
/// broker is unavailable or lost its log, or a partition is not followed yet. The stream then
/// learns of it within one beat. If nothing was published, nothing can be lost, and idle clients
/// cost the database no work.
final class QueueHeartbeat: Service {
    private let hub: QueueHub
    private let store: QueueReadStore
    private let interval: Duration
    private let logger: Logger
    /// The outbox's position when the revisions were last read.
    private let asked = Mutex<OutboxMark?>(nil)

    init(hub: QueueHub, store: QueueReadStore, interval: Duration, logger: Logger) {
        self.hub = hub
        self.store = store
        self.interval = interval
        self.logger = logger
    }

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                while true {
                    try await Task.sleep(for: self.interval)
                    await self.beat()
                }
            }
        } catch is CancellationError {
            // The service shuts down; the streams end by themselves.
        }
    }

    /// Sends one heartbeat.
    ///
    /// - Returns: Whether it read the revisions of the queues.
    @discardableResult
    func beat() async -> Bool {
        let queues = Array(hub.queues)
        guard !queues.isEmpty else { return false }
        do {
            // Read before the queues, so that events published in between are seen at the next
            // beat.
            let mark = try await store.outboxMark()
            guard mark.hasBacklog || asked.withLock({ $0 != mark }) else {
                hub.beat(revisions: nil)
                return false
            }
            hub.beat(revisions: try await store.revisions(of: queues), of: queues)
            asked.withLock { $0 = mark }
            return true
        } catch {
            logger.debug("The queues' revisions are not known", metadata: ["error": "\(error)"])
            hub.beat(revisions: nil)
            return false
        }
    }
}
