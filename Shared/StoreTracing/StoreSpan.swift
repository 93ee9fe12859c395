import Synchronization
public import Tracing

/// A span of the store's own tracer that is in progress.
public final class StoreSpan: Tracing.Span {
    private struct State {
        var name: String
        var start: UInt64
        var attributes = SpanAttributes()
        var link: TraceContext?
        var isError = false
        var isEnded = false
    }

    /// The span's context, for its children.
    public let context: ServiceContext
    private let kind: Span.Kind
    private let place: TraceContext
    private let parent: SpanID?
    private let take: @Sendable ([Span]) -> Void
    private let state: Mutex<State>

    init(
        _ name: String,
        _ kind: Span.Kind,
        context: ServiceContext,
        place: TraceContext,
        parent: SpanID?,
        from start: UInt64,
        _ take: @escaping @Sendable ([Span]) -> Void
    ) {
        self.kind = kind
        self.context = context
        self.place = place
        self.parent = parent
        self.take = take
        state = Mutex(State(name: name, start: start))
    }

    /// The name of the work.
    public var operationName: String {
        get { state.withLock(\.name) }
        set { state.withLock { $0.name = newValue } }
    }

    /// Further details.
    public var attributes: SpanAttributes {
        get { state.withLock(\.attributes) }
        set { state.withLock { $0.attributes = newValue } }
    }

    /// Whether the span is still in progress and will be handed on.
    public var isRecording: Bool { place.isSampled && !state.withLock(\.isEnded) }

    /// Notes whether the work failed.
    public func setStatus(_ status: SpanStatus) {
        state.withLock { $0.isError = status.code == .error }
    }

    /// Does nothing: the store's spans have no events.
    public func addEvent(_ event: SpanEvent) {}

    /// Notes that the work failed.
    public func recordError<Instant: TracerInstant>(
        _ error: any Error,
        attributes: SpanAttributes,
        at instant: @autoclosure () -> Instant
    ) {
        state.withLock { $0.isError = true }
    }

    /// Notes a span of another trace that was involved; only the last one is kept.
    public func addLink(_ link: SpanLink) {
        let linked = link.context.traceContext
        state.withLock { $0.link = linked }
    }

    /// Sets the time when the span began, which may become known only after its children need the
    /// span.
    func begin(at nanoseconds: UInt64) {
        state.withLock { $0.start = nanoseconds }
    }

    /// Ends the span and hands it on, once.
    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let end = instant().nanosecondsSinceEpoch
        let ended = state.withLock { state -> State? in
            guard !state.isEnded else { return nil }
            state.isEnded = true
            return state
        }
        guard let ended, place.isSampled else { return }
        take([
            Span(
                ended.name,
                kind,
                place,
                parent: parent,
                link: ended.link,
                from: ended.start,
                to: end,
                attributes: Span.values(of: ended.attributes),
                isError: ended.isError
            )
        ])
    }
}
