public import Tracing

/// A step of a trace that is being made, and its span if it gets one.
public struct SpanStep: Sendable {
    /// What goes on with what it makes.
    public let traceparent: String
    private let underway: Underway?

    /// A span that is under way, and what is told of it later.
    private struct Underway: Sendable {
        let open: OpenSpan
        let place: TraceContext
        let kind: Span.Kind
        let parent: SpanID?
        let link: TraceContext?
    }

    /// A step without a span.
    init(traceparent: String) {
        self.traceparent = traceparent
        underway = nil
    }

    /// A step whose span is under way.
    init(
        at place: TraceContext,
        _ open: OpenSpan,
        _ kind: Span.Kind,
        parent: SpanID?,
        link: TraceContext?
    ) {
        traceparent = "\(place)"
        underway = Underway(open: open, place: place, kind: kind, parent: parent, link: link)
    }

    /// The context of its span, for what is done within it; `nil` if it gets none.
    public var context: ServiceContext? { underway?.open.context }

    /// The span once the step is over; `nil` if it gets none.
    ///
    /// - Parameters:
    ///   - name: What was done.
    ///   - start: When it began.
    ///   - end: When it ended.
    ///   - attributes: What else there is to say.
    ///   - isError: Whether it came to nothing.
    /// - Returns: The span, to be handed to ``SpanRecorder/record(_:)``.
    public func span(
        _ name: String,
        from start: UInt64,
        to end: UInt64,
        attributes: [String: Span.Value] = [:],
        isError: Bool = false
    ) -> Span? {
        underway.map {
            Span(
                name,
                $0.kind,
                $0.place,
                parent: $0.parent,
                link: $0.link,
                from: start,
                to: end,
                attributes: attributes,
                isError: isError,
                open: $0.open
            )
        }
    }
}
