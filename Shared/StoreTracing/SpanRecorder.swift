public import Tracing

/// Takes the spans of a service to a tracer, or, as nearly always, to none.
///
/// Whoever makes spans asks ``isOn`` first: where nobody takes them, none is made. The tracer is the
/// store's own (``StoreTracer``) or any other of swift-distributed-tracing that reads and writes W3C's
/// `traceparent`, which is what events and headers carry.
public struct SpanRecorder: Sendable {
    private let tracer: (any Tracer)?

    /// Takes none.
    public static let off = SpanRecorder(tracer: nil)

    private init(tracer: (any Tracer)?) { self.tracer = tracer }

    /// Makes a recorder that hands spans to a tracer.
    public init(_ tracer: any Tracer) { self.init(tracer: tracer) }

    /// Makes a recorder with a tracer of the store's own.
    ///
    /// - Parameter take: Takes spans, from any task; it must not wait.
    public init(_ take: @escaping @Sendable ([Span]) -> Void) {
        self.init(tracer: StoreTracer(take))
    }

    /// Whether anybody takes spans.
    public var isOn: Bool { tracer != nil }

    /// The time that a span begins at; 0 where nobody takes any.
    public var start: UInt64 { isOn ? Span.clock() : 0 }

    /// Hands on spans that are over; those of traces that are not sampled are left out.
    public func record(_ spans: [Span]) {
        guard let tracer else { return }
        for span in spans where span.context.isSampled {
            if let open = span.open {
                open.end(as: span)
            } else {
                OpenSpan(begin(span, with: tracer)).end(as: span)
            }
        }
    }

    /// Begins a span that nothing is caused by: it may have any id.
    private func begin(_ span: Span, with tracer: any Tracer) -> any Tracing.Span {
        let begun = tracer.startSpan(
            span.name,
            context: span.parent.map {
                context(of: TraceContext(span.context, at: $0), with: tracer)
            } ?? .topLevel,
            ofKind: span.kind.tracing,
            at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: span.start)
        )
        if let link = span.link {
            begun.addLink(SpanLink(context: context(of: link, with: tracer), attributes: [:]))
        }
        return begun
    }

    /// What takes place next in a trace: a span of its own where spans are taken, else the trace as
    /// it came, so that no recorded span lacks its parent.
    ///
    /// - Parameters:
    ///   - traceparent: What it follows, as a `traceparent`.
    ///   - kind: What it is towards its cause.
    ///   - link: A span of another trace that has a part in it.
    /// - Returns: The step; `nil` if it follows nothing.
    public func next(
        after traceparent: String?,
        _ kind: Span.Kind = .internal,
        link: TraceContext? = nil
    ) -> SpanStep? {
        guard let traceparent else { return nil }
        guard let parent = TraceContext(traceparent) else {
            return SpanStep(traceparent: traceparent)
        }
        return step(after: parent, kind, link: link) ?? SpanStep(traceparent: traceparent)
    }

    /// Begins a step under another one, or, under none, a trace.
    ///
    /// - Parameters:
    ///   - parent: What it follows; `nil` for the beginning of a trace.
    ///   - kind: What it is towards its cause.
    ///   - link: A span of another trace that has a part in it.
    /// - Returns: The step; `nil` where nobody takes spans, or not those of this trace.
    public func step(
        after parent: TraceContext?,
        _ kind: Span.Kind,
        link: TraceContext? = nil
    ) -> SpanStep? {
        guard let tracer, parent?.isSampled ?? true else { return nil }
        let span = tracer.startSpan(
            "\(kind)",
            context: parent.map { context(of: $0, with: tracer) } ?? .topLevel,
            ofKind: kind.tracing
        )
        if let link {
            span.addLink(SpanLink(context: context(of: link, with: tracer), attributes: [:]))
        }
        let open = OpenSpan(span)
        var headers: [String: String] = [:]
        tracer.inject(open.context, into: &headers, using: TraceHeaders())
        // A tracer of another way of travelling has no part in what events carry.
        guard let own = headers[TraceHeaders.traceparent].flatMap({ TraceContext($0) }) ?? parent
        else { return nil }
        return SpanStep(at: own, open, kind, parent: parent?.spanID, link: link)
    }

    private func context(of place: TraceContext, with tracer: any Tracer) -> ServiceContext {
        var context = ServiceContext.topLevel
        tracer.extract(
            [TraceHeaders.traceparent: "\(place)"],
            into: &context,
            using: TraceHeaders()
        )
        return context
    }
}
