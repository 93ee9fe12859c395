import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import UnixSignals

/// The first signal asks for a graceful shutdown; a second one ends the process.
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

/// Ends the process if a shutdown takes too long: a part that hangs must not keep it from being
/// started again.
final class ShutdownDeadline: Sendable {
    private let limit: Duration
    private let logger: Logger
    private let timer = Mutex<Task<Void, Never>?>(nil)

    init(limit: Duration, logger: Logger) {
        self.limit = limit
        self.logger = logger
    }

    /// Starts the clock, if it does not run already.
    func start() {
        timer.withLock { timer in
            guard timer == nil else { return }
            timer = Task.detached { [limit, logger] in
                do {
                    try await Task.sleep(for: limit)
                } catch {
                    // Cancelled: the shutdown has ended in time.
                    return
                }
                logger.critical("shutdown took too long", metadata: ["limit": "\(limit)"])
                _exit(ProcessStatus.failure.rawValue)
            }
        }
    }

    /// Stops the clock.
    func cancel() {
        timer.withLock { $0?.cancel() }
    }
}

/// A part that says at once why it failed; the others are shut down only afterwards, which takes a
/// while.
struct ReportingService: Service {
    let service: any Service
    let logger: Logger
    let deadline: ShutdownDeadline

    /// The type's name.
    ///
    /// What describes the value may hold a password.
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
