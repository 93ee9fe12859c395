/// A step of a trace that is being made, and its span if it gets one.
public struct SpanStep: Hashable, Sendable {
    /// What goes on with what it makes.
    public let traceparent: String
    /// The span's own place.
    public let context: TraceContext?
    /// The span it follows.
    public let parent: SpanID?

    /// The span once the step is over; `nil` if it gets none.
    public func span(
        _ name: String,
        _ kind: Span.Kind,
        from start: UInt64,
        to end: UInt64,
        attributes: [String: Span.Value] = [:],
        isError: Bool = false
    ) -> Span? {
        context.map {
            Span(
                name,
                kind,
                $0,
                parent: parent,
                from: start,
                to: end,
                attributes: attributes,
                isError: isError
            )
        }
    }
}
