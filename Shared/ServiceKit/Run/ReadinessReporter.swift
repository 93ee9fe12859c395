import HTTPTypes
import Hummingbird
import Logging
import Metrics
import ServiceLifecycle

/// One thing that has to be there before a service can do its work: a database connection, an
/// assigned partition, applied migrations.
public struct ReadinessCheck: Sendable {
    /// What is checked: `postgres`, `kafka`, `migrations`.
    public let name: String
    /// Tells whether it is there, without waiting for it.
    public let isReady: @Sendable () async -> Bool
    /// What is wrong while it is not there, as a sentence; `nil` where the name says enough.
    var explanation: @Sendable () async -> String? = { nil }

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - name: What is checked.
    ///   - isReady: Tells whether it is there, without waiting for it.
    public init(_ name: String, isReady: @escaping @Sendable () async -> Bool) {
        self.name = name
        self.isReady = isReady
    }

    /// Makes a check that says what is wrong.
    ///
    /// - Parameters:
    ///   - name: What is checked.
    ///   - failure: What is wrong, as a sentence without its full stop; `nil` if nothing is.
    public init(_ name: String, failure: @escaping @Sendable () async -> String?) {
        self.name = name
        isReady = { await failure() == nil }
        explanation = failure
    }
}

extension [ReadinessCheck] {
    /// The names of the checks that fail, each with what is wrong where the name does not say it.
    func failing() async -> [String] {
        var names: [String] = []
        for check in self where await !check.isReady() {
            let explanation = await check.explanation()
            names.append(explanation.map { "\(check.name) (\($0))" } ?? check.name)
        }
        return names
    }
}

private struct HealthResponse: Encodable {
    var status: String
    var checks: [String]?
    var version: String?
}

/// Adds `/health/live`, `/health/ready` and `/metrics`.
func addHealthRoutes(
    to group: RouterGroup<StoreRequestContext>,
    readiness: [ReadinessCheck],
    metrics: PrometheusMetrics
) {
    group.get("/health/live") { _, _ in
        try jsonResponse(HealthResponse(status: "live", version: ServiceHelp.version))
    }
    group.get("/health/ready") { _, _ in
        let failing = await readiness.failing()
        guard failing.isEmpty else {
            throw HTTPProblem(
                .serviceUnavailable,
                code: "not_ready",
                title: "Not ready",
                detail: "Waiting for: \(failing.joined(separator: ", ")).",
                retryAfter: .seconds(1)
            )
        }
        return try jsonResponse(HealthResponse(status: "ready", checks: readiness.map(\.name)))
    }
    group.get("/metrics") { _, _ in
        Response(
            status: .ok,
            headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.exposition()))
        )
    }
}

/// Says in the log when the service becomes ready and ceases to be, and every ten seconds what it
/// is still waiting for.
struct ReadinessReporter: Service {
    let checks: [ReadinessCheck]
    let logger: Logger
    var warnEvery: Duration = .seconds(10)

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
                logger.info("ready", metadata: ["after_ms": "\(Int(waited))"])
            } else if !isReady && (wasReady || now - lastWarning >= warnEvery) {
                lastWarning = now
                logger.warning(
                    "not ready",
                    metadata: ["waiting_for": "\(failing.joined(separator: ","))"]
                )
            }
            wasReady = isReady
            let pause: Duration = isReady ? .seconds(1) : .milliseconds(50)
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
