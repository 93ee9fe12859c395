/// Takes the spans of a service, or, as nearly always, none.
///
/// Whoever makes spans asks ``isOn`` first: where nobody takes them, none is made.
public struct SpanRecorder: Sendable {
    private let take: (@Sendable ([Span]) -> Void)?

    /// Takes none.
    public static let off = SpanRecorder(take: nil)

    private init(take: (@Sendable ([Span]) -> Void)?) { self.take = take }

    /// Makes a recorder.
    ///
    /// - Parameter take: Takes spans, from any task; it must not wait.
    public init(_ take: @escaping @Sendable ([Span]) -> Void) { self.take = take }

    /// Whether anybody takes spans.
    public var isOn: Bool { take != nil }

    /// The time that a span begins at; 0 where nobody takes any.
    public var start: UInt64 { isOn ? Span.clock() : 0 }

    /// Hands on spans; those of traces that are not sampled are left out.
    public func record(_ spans: [Span]) {
        guard let take else { return }
        let sampled = spans.filter(\.context.isSampled)
        if !sampled.isEmpty { take(sampled) }
    }

    /// What takes place next in a trace, as a `traceparent`: a span of its own where spans are
    /// taken, else the trace as it came, so that no recorded span lacks its parent.
    public func next(after traceparent: String?) -> SpanStep? {
        guard let traceparent else { return nil }
        guard isOn, let parent = TraceContext(traceparent), parent.isSampled else {
            return SpanStep(traceparent: traceparent, context: nil, parent: nil)
        }
        let context = parent.child()
        return SpanStep(
            traceparent: context.description,
            context: context,
            parent: parent.spanID
        )
    }
}
