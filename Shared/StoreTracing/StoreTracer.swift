public import Tracing

/// The store's own tracer, which hands on each finished span if its trace is sampled.
///
/// Contexts are passed on as W3C Trace Context, in a `traceparent`.
public struct StoreTracer: Tracer {
    private let take: @Sendable ([StoreTracing.Span]) -> Void

    /// Makes a tracer.
    ///
    /// - Parameter take: Takes spans, from any task; it must not wait.
    public init(_ take: @escaping @Sendable ([StoreTracing.Span]) -> Void) { self.take = take }

    /// Begins a span under the one of a context; without one it begins a trace.
    public func startSpan<Instant: TracerInstant>(
        _ operationName: String,
        context: @autoclosure () -> ServiceContext,
        ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant,
        function: String,
        file fileID: String,
        line: UInt
    ) -> StoreSpan {
        var context = context()
        let parent = context.traceContext
        let own = parent?.child() ?? .begin()
        context.traceContext = own
        return StoreSpan(
            operationName,
            StoreTracing.Span.Kind(kind),
            context: context,
            place: own,
            parent: parent?.spanID,
            from: instant().nanosecondsSinceEpoch,
            take
        )
    }

    /// Reads a `traceparent`; a malformed one is ignored.
    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier,
        into context: inout ServiceContext,
        using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let text = extractor.extract(key: TraceHeaders.traceparent, from: carrier),
            let read = TraceContext(text)
        else { return }
        context.traceContext = read
    }

    /// Writes a `traceparent`.
    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext,
        into carrier: inout Carrier,
        using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let place = context.traceContext else { return }
        injector.inject("\(place)", forKey: TraceHeaders.traceparent, into: &carrier)
    }

    /// Does nothing, because no spans are buffered.
    public func forceFlush() {}
}
