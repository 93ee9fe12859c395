import Hummingbird
import NIOCore

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
