import Logging
import ServiceLifecycle
import Synchronization

/// The heartbeat of all streams of this instance.
///
/// After changes may have passed by (a broker that lost its log, a tail that began anew) it also
/// asks, once for all streams, how far their queues are, so a stream whose last change got lost
/// between the database and here learns of it within a beat. Otherwise it asks nothing: an idle
/// client costs the database no work.
struct QueueHeartbeat: Service {
    let hub: QueueHub
    let store: QueueReadStore
    let missed: MissedChanges
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
        guard missed.isSuspected else { return hub.beat(revisions: [:]) }
        do {
            hub.beat(revisions: try await store.revisions(of: queues))
            missed.checked()
        } catch {
            logger.debug("The queues' revisions are not known", metadata: ["error": "\(error)"])
            hub.beat(revisions: [:])
        }
    }
}

/// Whether changes may have passed by the streams.
final class MissedChanges: Sendable {
    /// Asked for twice: while the first check runs, a tail that begins anew may not have found the
    /// end of its topics yet.
    private static let checks = 2
    private let checksLeft = Mutex(0)

    /// Whether the database has to be asked.
    var isSuspected: Bool { checksLeft.withLock { $0 > 0 } }

    /// Changes may have passed by.
    func note() { checksLeft.withLock { $0 = Self.checks } }

    /// The database was asked.
    func checked() { checksLeft.withLock { $0 = max($0 - 1, 0) } }
}
