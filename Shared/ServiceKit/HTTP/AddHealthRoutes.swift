public import EventTypes
import Hummingbird
import NIOCore
import StoreAPI

private struct HealthResponse: Encodable {
    var status: String
    var checks: [String]?
    var version: String?
    var warnings: [String]?
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
        let warnings = await readiness.warnings()
        return try jsonResponse(
            HealthResponse(
                status: "ready",
                checks: readiness.map(\.name),
                warnings: warnings.isEmpty ? nil : warnings
            )
        )
    }
    group.get("/metrics") { _, _ in
        Response(
            status: .ok,
            headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.exposition()))
        )
    }
}

extension StoreRouter {
    /// Adds `/health/clock`, which says how far this process follows the store's clock.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - read: Reads the number of the newest change, and the store's time.
    public func addClockRoute(
        of service: ServiceName,
        _ read: @escaping @Sendable () -> (step: Int64, now: StoreTime)
    ) {
        open.get("\(FollowedClockResponse.path)") { _, _ in
            let (step, now) = read()
            return try jsonResponse(
                FollowedClockResponse(service: service.rawValue, step: step, now: now)
            )
        }
    }
}
