import Logging
import ServiceLifecycle

/// The heartbeat of all streams of this instance.
///
/// It also asks, once for all of them, how far their queues are. A stream whose last change got
/// lost between the database and here (a broker that lost its log) so learns of it within a beat.
struct QueueHeartbeat: Service {
    let hub: QueueHub
    let store: QueueReadStore
    let interval: Duration
    let logger: Logger

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                while true {
                    try await Task.sleep(for: interval)
                    await beat()
                }
            }
        } catch is CancellationError {
            // The service shuts down; the streams end by themselves.
        }
    }

    /// One beat.
    func beat() async {
        let queues = Array(hub.queues)
        guard !queues.isEmpty else { return }
        do {
            hub.beat(revisions: try await store.revisions(of: queues))
        } catch {
            logger.debug("The queues' revisions are not known", metadata: ["error": "\(error)"])
            hub.beat(revisions: [:])
        }
    }
}
