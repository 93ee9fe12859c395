public import Tracing

/// Passes the spans of a service to a tracer, or, most of the time, to none.
///
/// Callers check ``isOn`` first and make no spans if they are not recorded. The tracer is the
/// store's own (``StoreTracer``), or any other of swift-distributed-tracing that reads and writes
/// W3C's `traceparent`, which events and headers carry.
public struct SpanRecorder: Sendable {
    private let tracer: (any Tracer)?

    /// A recorder that records no spans.
    public static let off = SpanRecorder(tracer: nil)

    private init(tracer: (any Tracer)?) { self.tracer = tracer }

    /// Makes a recorder that passes spans to a tracer.
    public init(_ tracer: any Tracer) { self.init(tracer: tracer) }

    /// Makes a recorder with the store's own tracer.
    ///
    /// - Parameter take: Takes spans, from any task; it must not wait.
    public init(_ take: @escaping @Sendable ([Span]) -> Void) {
        self.init(tracer: StoreTracer(take))
    }

    /// Whether spans are recorded.
    public var isOn: Bool { tracer != nil }

    /// The time at which a span begins; 0 if spans are not recorded.
    public var start: UInt64 { isOn ? Span.clock() : 0 }

    /// Records finished spans, except those of traces that are not sampled.
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

    /// Begins a span without children, which may have any id.
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

    /// The next step of a trace.
    ///
    /// It has its own span if spans are recorded. Otherwise it keeps the trace context unchanged,
    /// so that no recorded span lacks its parent.
    ///
    /// - Parameters:
    ///   - traceparent: The `traceparent` of its parent.
    ///   - kind: The role relative to its parent.
    ///   - link: A span of another trace that was involved.
    /// - Returns: The step; `nil` without a parent.
    public func next(
        after traceparent: TraceContext?,
        _ kind: Span.Kind = .internal,
        link: TraceContext? = nil
    ) -> SpanStep? {
        guard let traceparent else { return nil }
        return step(after: traceparent, kind, link: link) ?? SpanStep(traceparent: traceparent)
    }

    /// Begins a step under a parent or, without one, begins a trace.
    ///
    /// - Parameters:
    ///   - parent: The parent; `nil` for the beginning of a trace.
    ///   - kind: The role relative to its parent.
    ///   - link: A span of another trace that was involved.
    /// - Returns: The step; `nil` if the spans of this trace are not recorded.
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
        // A tracer that does not use `traceparent` cannot continue a trace through events.
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
