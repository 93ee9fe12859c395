import Synchronization
import Tracing

/// A span that a tracer has begun and that ends when it is recorded.
///
/// A span that is never recorded belongs to work that was rolled back or was a repetition. The
/// store's own tracer then drops it. Another tracer requires every span to end, so it receives this
/// one too.
final class OpenSpan: Sendable {
    private let span: any Tracing.Span
    private let isEnded = Mutex(false)

    init(_ span: any Tracing.Span) { self.span = span }

    /// The span's context, for its children.
    var context: ServiceContext { span.context }

    /// Ends the span with the values of a finished one.
    func end(as recorded: Span) {
        let isFirst = isEnded.withLock { isEnded in
            defer { isEnded = true }
            return !isEnded
        }
        guard isFirst else { return }
        span.operationName = recorded.name
        (span as? StoreSpan)?.begin(at: recorded.start)
        span.attributes = recorded.tracingAttributes
        if recorded.isError { span.setStatus(SpanStatus(code: .error)) }
        span.end(at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: recorded.end))
    }

    deinit {
        guard !isEnded.withLock({ $0 }), !(span is StoreSpan) else { return }
        span.updateAttributes { $0["counterfoil.discarded"] = true }
        span.end()
    }
}
