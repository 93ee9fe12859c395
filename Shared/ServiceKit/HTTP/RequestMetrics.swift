import HTTPTypes
import Metrics
import Synchronization

/// Counts requests and measures their duration, by route.
///
/// The metrics of a route are created with its first request, so that later requests cost one
/// look-up.
final class RequestMetrics: Sendable {
    private struct Key: Hashable {
        var route: String
        var method: HTTPRequest.Method
        var status: Int
    }

    private struct RouteMetrics: Sendable {
        var count: Counter
        var duration: Timer
    }

    private let known = Mutex<[Key: RouteMetrics]>([:])

    func record(
        route: String,
        method: HTTPRequest.Method,
        status: HTTPResponse.Status,
        duration: Duration
    ) {
        let key = Key(route: route, method: Self.known(method), status: status.code)
        let metrics = known.withLock { known in
            if let metrics = known[key] { return metrics }
            let dimensions = [("method", key.method.rawValue), ("route", route)]
            let metrics = RouteMetrics(
                count: Counter(
                    label: "http_requests",
                    dimensions: dimensions + [("status", "\(key.status)")]
                ),
                duration: Timer(label: "http_request_duration", dimensions: dimensions)
            )
            known[key] = metrics
            return metrics
        }
        metrics.count.increment()
        let (seconds, attoseconds) = duration.components
        metrics.duration.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    /// The method if it is a usual one, otherwise `OTHER`.
    ///
    /// Clients can send any text as a method, so only the usual methods get series of their own.
    static func known(_ method: HTTPRequest.Method) -> HTTPRequest.Method {
        switch method {
        case .get, .head, .post, .put, .delete, .patch, .options: method
        default: HTTPRequest.Method("OTHER") ?? .get
        }
    }
}
