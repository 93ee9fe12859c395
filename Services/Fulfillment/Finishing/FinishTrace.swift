import EventTypes
import StoreTracing

/// Where a finish belongs: to the trace of its purchase, however much later it comes and whichever
/// process of the client sends it.
///
/// Where the client has carried the purchase's trace on, the request is the cause; else the request's
/// own trace is a link, so that both are found from either.
struct FinishTrace: Sendable {
    /// What the event carries.
    let traceparent: String
    private let step: SpanStep?

    /// Places a finish.
    ///
    /// - Parameters:
    ///   - purchase: The trace that the transaction entered the queue by, if it has one.
    ///   - request: The trace of the HTTP request.
    ///   - spans: Who takes spans.
    init(of purchase: String?, by request: TraceContext, for spans: SpanRecorder) {
        let known = spans.isOn ? purchase.flatMap { TraceContext($0) } : nil
        guard let known else {
            // A transaction of before there were traces, or nobody takes spans.
            traceparent = purchase ?? request.description
            step = nil
            return
        }
        let isSame = known.traceID == request.traceID
        step = spans.step(
            after: isSame ? request : known,
            .internal,
            link: isSame ? nil : request
        )
        traceparent = step?.traceparent ?? known.description
    }

    /// Its span; `nil` if it gets none.
    func span(from start: UInt64, to end: UInt64) -> Span? {
        step?.span("\(EventType.transactionFinished)", from: start, to: end)
    }
}
