import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import UnixSignals

/// Shuts down gracefully on the first signal, and ends the process on the second.
func shutDown(
    _ group: ServiceGroup,
    on signals: UnixSignalsSequence,
    _ deadline: ShutdownDeadline,
    _ logger: Logger
) async {
    var isFirst = true
    for await signal in signals {
        guard isFirst else {
            logger.warning("second signal: stopping at once")
            _exit(128 + signal.rawValue)
        }
        isFirst = false
        logger.info("shutting down", metadata: ["signal": "\(signal)"])
        deadline.start()
        await group.triggerGracefulShutdown()
    }
}

/// Ends the process if a shutdown takes too long, so that a part that hangs cannot delay a restart.
final class ShutdownDeadline: Sendable {
    private let limit: Duration
    private let logger: Logger
    private let timer = Mutex<Task<Void, Never>?>(nil)

    init(limit: Duration, logger: Logger) {
        self.limit = limit
        self.logger = logger
    }

    /// Starts the timer, if it is not running already.
    func start() {
        timer.withLock { timer in
            guard timer == nil else { return }
            timer = Task.detached { [limit, logger] in
                do {
                    try await Task.sleep(for: limit)
                } catch {
                    // The timer was cancelled: the shutdown has ended in time.
                    return
                }
                logger.critical("shutdown took too long", metadata: ["limit": "\(limit)"])
                _exit(ProcessStatus.failure.rawValue)
            }
        }
    }

    /// Stops the timer.
    func cancel() {
        timer.withLock { $0?.cancel() }
    }
}

/// A part of a service that logs at once why it failed.
///
/// The other parts are shut down only afterwards, which takes a while.
struct ReportingService: Service {
    let service: any Service
    let logger: Logger
    let deadline: ShutdownDeadline

    /// The type's name.
    ///
    /// A description of the value might contain a password.
    var name: String { "\(type(of: service))" }

    func run() async throws {
        do {
            try await service.run()
        } catch {
            if !(error is CancellationError) {
                logger.critical(
                    "service failed",
                    metadata: ["error": "\(error)", "part": "\(name)"]
                )
            }
            deadline.start()
            throw error
        }
    }
}
