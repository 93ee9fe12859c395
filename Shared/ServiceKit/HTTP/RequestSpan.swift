import HTTPTypes
import Hummingbird
import StoreTracing
import Tracing

/// The span of a request, within the trace that its `traceparent` names.
struct RequestSpan {
    private let spans: SpanRecorder
    private let step: SpanStep
    private let start: UInt64

    /// W3C Trace Context.
    private static let header = HTTPField.Name("traceparent")

    /// Reads where a request comes from, and gives its context its trace.
    ///
    /// Without a well-formed `traceparent`, or with several, it begins a trace of its own; that is
    /// never an error to the client. `tracestate` is read by nobody here and is not kept: what a
    /// client's tracing system notes for itself has no place in a log that is never deleted.
    ///
    /// - Returns: `nil` where nobody takes spans, and for requests of the store's own supervision.
    init?(of request: Request, _ context: inout StoreRequestContext, for spans: SpanRecorder) {
        let parent = Self.traceparent(of: request)
        if let parent { context.trace = parent }
        let path = request.uri.path
        guard spans.isOn, !path.hasPrefix("/health"), path != "/metrics",
            let step = spans.step(after: parent, .server)
        else { return nil }
        // A span that nobody records must not stand between those that are.
        if let own = TraceContext(step.traceparent) { context.trace = own }
        self.spans = spans
        self.step = step
        start = spans.start
    }

    /// The context of the span, for tracers that look for it in the task.
    var context: ServiceContext? { step.context }

    /// Records the span, named by the route and never by the path.
    func end(_ route: String?, _ method: HTTPRequest.Method, _ status: HTTPResponse.Status) {
        let route = route ?? "unknown"
        let method = RequestMetrics.known(method).rawValue
        let span = step.span(
            "\(method) \(route)",
            from: start,
            to: spans.start,
            attributes: [
                "http.request.method": .text(method), "http.route": .text(route),
                "http.response.status_code": .number(status.code),
            ],
            isError: status.code >= 500
        )
        if let span { spans.record([span]) }
    }

    private static func traceparent(of request: Request) -> TraceContext? {
        guard let name = Self.header, let value = request.headers[name] else { return nil }
        // Several are joined by a comma, which no `traceparent` has where it has its last digit.
        return TraceContext(utf8: Array(value.utf8))
    }
}
