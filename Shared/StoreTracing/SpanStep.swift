public import Tracing

/// A step of a trace in progress, with its span if it has one.
public struct SpanStep: Sendable {
    /// The `traceparent` for everything that the step causes.
    public let traceparent: TraceContext
    private let underway: Underway?

    /// A span in progress, with the details that it will be recorded with.
    private struct Underway: Sendable {
        let open: OpenSpan
        let place: TraceContext
        let kind: Span.Kind
        let parent: SpanID?
        let link: TraceContext?
    }

    /// Makes a step without a span.
    init(traceparent: TraceContext) {
        self.traceparent = traceparent
        underway = nil
    }

    /// Makes a step with a span in progress.
    init(
        at place: TraceContext,
        _ open: OpenSpan,
        _ kind: Span.Kind,
        parent: SpanID?,
        link: TraceContext?
    ) {
        traceparent = place
        underway = Underway(open: open, place: place, kind: kind, parent: parent, link: link)
    }

    /// The context of its span, for the work inside it; `nil` without a span.
    public var context: ServiceContext? { underway?.open.context }

    /// The finished span of the step; `nil` without a span.
    ///
    /// - Parameters:
    ///   - name: The name of the work.
    ///   - start: The time when it began.
    ///   - end: The time when it ended.
    ///   - attributes: Further details.
    ///   - isError: Whether it failed.
    /// - Returns: The span, to be passed to ``SpanRecorder/record(_:)``.
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
