import Logging
import Messaging
import ServiceLifecycle
import Synchronization

/// The heartbeat of all streams of this instance.
///
/// If fulfillment has said anything since the last beat it also asks, once for all streams, how far
/// their queues are. A stream whose last change got lost between the database and here (a broker
/// that is away or lost its log, a partition that nobody follows yet) so learns of it within a beat.
/// If it has said nothing, nothing can have got lost, and idle clients cost the database no work.
final class QueueHeartbeat: Service {
    private let hub: QueueHub
    private let store: QueueReadStore
    private let interval: Duration
    private let logger: Logger
    /// How far the outbox was when all queues were asked for last.
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

    /// One beat.
    ///
    /// The answer is whether it asked how far the queues are.
    @discardableResult
    func beat() async -> Bool {
        let queues = Array(hub.queues)
        guard !queues.isEmpty else { return false }
        do {
            // Before the queues: what is said in between is seen at the next beat.
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
