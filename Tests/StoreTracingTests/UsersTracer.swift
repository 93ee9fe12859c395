import StoreTracing
import Synchronization
import Tracing

/// A tracer as a user of the store may have one: it has ids of its own and travels in `traceparent`.
struct UsersTracer: Tracer {
    /// A span that it received.
    struct Received: Sendable {
        var name: String
        var kind: SpanKind
        var place: String
        var parent: String?
        var attributes: SpanAttributes
        var isError: Bool
        var links: Int
    }

    private let ended = Log()

    /// The spans that have ended, in their order.
    var received: [Received] { ended.spans.withLock { $0 } }

    func startSpan<Instant: TracerInstant>(
        _ operationName: String,
        context: @autoclosure () -> ServiceContext,
        ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant,
        function: String,
        file fileID: String,
        line: UInt
    ) -> UsersSpan {
        var context = context()
        let parent = context[Place.self]
        let trace = parent.map { $0.prefix(35) } ?? "00-\(Self.digits())\(Self.digits())"
        let place = "\(trace)-\(Self.digits())-01"
        context[Place.self] = place
        return UsersSpan(
            context,
            Received(
                name: operationName,
                kind: kind,
                place: place,
                parent: parent,
                attributes: [:],
                isError: false,
                links: 0
            ),
            ended
        )
    }

    /// Any 16 hexadecimal digits that are not all zeros.
    private static func digits() -> String {
        String(TraceContext.begin().description.dropFirst(36).prefix(16))
    }

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier,
        into context: inout ServiceContext,
        using extractor: Extract
    ) where Extract.Carrier == Carrier {
        context[Place.self] = extractor.extract(key: "Traceparent", from: carrier)
    }

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext,
        into carrier: inout Carrier,
        using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let place = context[Place.self] else { return }
        injector.inject(place, forKey: "Traceparent", into: &carrier)
    }

    func forceFlush() {}

    private enum Place: ServiceContextKey {
        typealias Value = String
    }

    /// The list of its spans that ended.
    final class Log: Sendable {
        let spans = Mutex<[Received]>([])
    }
}

/// A span of a ``UsersTracer``.
final class UsersSpan: Tracing.Span {
    let context: ServiceContext
    private let state: Mutex<UsersTracer.Received>
    private let log: UsersTracer.Log

    init(_ context: ServiceContext, _ received: UsersTracer.Received, _ log: UsersTracer.Log) {
        self.context = context
        self.log = log
        state = Mutex(received)
    }

    var operationName: String {
        get { state.withLock(\.name) }
        set { state.withLock { $0.name = newValue } }
    }

    var attributes: SpanAttributes {
        get { state.withLock(\.attributes) }
        set { state.withLock { $0.attributes = newValue } }
    }

    var isRecording: Bool { true }

    func setStatus(_ status: SpanStatus) {
        state.withLock { $0.isError = status.code == .error }
    }

    func addEvent(_ event: SpanEvent) {}

    func recordError<Instant: TracerInstant>(
        _ error: any Error,
        attributes: SpanAttributes,
        at instant: @autoclosure () -> Instant
    ) {}

    func addLink(_ link: SpanLink) { state.withLock { $0.links += 1 } }

    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let received = state.withLock { $0 }
        log.spans.withLock { $0.append(received) }
    }
}
