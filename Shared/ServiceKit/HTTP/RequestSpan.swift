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

    /// Reads the trace context of a request, and sets the trace in the request's context.
    ///
    /// Without a well-formed `traceparent`, or with several, it begins a new trace; that is never
    /// an error to the client. `tracestate` is not stored, because no service reads it and the
    /// private notes of a client's tracing system do not belong in a log that is never deleted.
    ///
    /// - Returns: `nil` if spans are not recorded, and for the store's own monitoring requests.
    init?(of request: Request, _ context: inout StoreRequestContext, for spans: SpanRecorder) {
        let parent = Self.traceparent(of: request)
        if let parent { context.trace = parent }
        let path = request.uri.path
        guard spans.isOn, !path.hasPrefix("/health"), path != "/metrics",
            let step = spans.step(after: parent, .server)
        else { return nil }
        // A span that is not recorded must not become the parent of recorded spans.
        context.trace = step.traceparent
        self.spans = spans
        self.step = step
        start = spans.start
    }

    /// The context of the span, for tracers that look for it in the task.
    var context: ServiceContext? { step.context }

    /// Records the span under the name of the route, never of the path.
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
        // Several headers are joined by commas, so the text is then not a well-formed
        // `traceparent`.
        return TraceContext(utf8: Array(value.utf8))
    }
}
