import EventTypes
import StoreTracing

/// The trace of a finish.
///
/// It is always the purchase's trace, no matter how much later the finish comes and which process
/// of the client sends it.
///
/// If the client has propagated the purchase's trace, the request is the parent span. Otherwise the
/// request's own trace becomes a link, so that each trace leads to the other.
struct FinishTrace: Sendable {
    /// The `traceparent` of the event.
    let traceparent: TraceContext
    private let step: SpanStep?

    /// Determines the trace of a finish.
    ///
    /// - Parameters:
    ///   - purchase: The trace that brought the transaction into the queue, if any.
    ///   - request: The trace of the HTTP request.
    ///   - spans: The recorder of spans.
    init(of purchase: TraceContext?, by request: TraceContext, for spans: SpanRecorder) {
        let known = spans.isOn ? purchase : nil
        guard let known else {
            // The transaction is older than tracing, or spans are not recorded.
            traceparent = purchase ?? request
            step = nil
            return
        }
        let isSame = known.traceID == request.traceID
        step = spans.step(
            after: isSame ? request : known,
            .internal,
            link: isSame ? nil : request
        )
        traceparent = step?.traceparent ?? known
    }

    /// Returns the finish's span, or `nil` if none is recorded.
    func span(from start: UInt64, to end: UInt64) -> Span? {
        step?.span("\(EventType.transactionFinished)", from: start, to: end)
    }
}
