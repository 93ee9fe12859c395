import Logging
import Metrics
import ServiceLifecycle

/// Logs when the service becomes ready or stops being ready, and every ten seconds what it still
/// waits for.
struct ReadinessReporter: Service {
    let checks: [ReadinessCheck]
    let logger: Logger
    var warnEvery: Duration = .seconds(10)
    /// The time between two looks while the service is ready.
    var lookEvery: Duration = .seconds(5)

    func run() async throws {
        let start = ContinuousClock.now
        let gauge = Gauge(label: "service_ready")
        var wasReady = false
        var lastWarning = start
        let checks = checks
        while !Task.isShuttingDownGracefully && !Task.isCancelled {
            let failing = await checks.failing()
            let now = ContinuousClock.now
            let isReady = failing.isEmpty
            gauge.record(isReady ? 1 : 0)
            if isReady && !wasReady {
                let waited = (now - start) / .milliseconds(1)
                logger.info("ready", metadata: ["ready.milliseconds": "\(Int(waited))"])
            } else if !isReady && (wasReady || now - lastWarning >= warnEvery) {
                lastWarning = now
                logger.warning(
                    "not ready",
                    metadata: ["readiness.failing": "\(failing.joined(separator: ","))"]
                )
            }
            wasReady = isReady
            let pause: Duration = isReady ? lookEvery : .milliseconds(50)
            do {
                try await cancelWhenGracefulShutdown {
                    try await Task.sleep(for: pause)
                }
            } catch is CancellationError {
                return
            }
        }
    }
}
