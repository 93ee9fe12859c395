import Tracing

/// One span of a trace: the work of a service, with its duration and its parent.
///
/// It is a value that is made when the work is over, because one commit ends hundreds of spans at
/// once. Names and attributes come from a small set and contain no data of accounts.
public struct Span: Sendable {
    /// The role of a span relative to its parent; the raw values are OpenTelemetry's.
    public enum Kind: Int, Hashable, Sendable {
        /// Work within a service.
        case `internal` = 1
        /// A request that was answered.
        case server = 2
        /// A request that was sent.
        case client = 3
        /// An event that was published.
        case producer = 4
        /// An event that was applied.
        case consumer = 5
    }

    /// An attribute's value.
    public enum Value: Hashable, Sendable {
        /// A text.
        case text(String)
        /// A number.
        case number(Int)
    }

    /// The name of the work: `POST /v1/payments`, `apply receipt.issued.v1`.
    public let name: String
    /// The span's role relative to its parent.
    public let kind: Kind
    /// Its trace, and its own id.
    public let context: TraceContext
    /// The parent span; `nil` for the first span of a trace.
    public let parent: SpanID?
    /// A span of another trace that was involved.
    public let link: TraceContext?
    /// The time when it began, in nanoseconds since 1970.
    public let start: UInt64
    /// The time when it ended, in nanoseconds since 1970.
    public let end: UInt64
    /// Further details.
    public let attributes: [String: Value]
    /// Whether the work failed.
    public let isError: Bool
    /// The span that a tracer has already begun for it; `nil` for a span without children.
    let open: OpenSpan?

    /// Makes a span of finished work that has no children.
    public init(
        _ name: String,
        _ kind: Kind,
        _ context: TraceContext,
        parent: SpanID?,
        link: TraceContext? = nil,
        from start: UInt64,
        to end: UInt64,
        attributes: [String: Value] = [:],
        isError: Bool = false
    ) {
        self.init(
            name,
            kind,
            context,
            parent: parent,
            link: link,
            from: start,
            to: end,
            attributes: attributes,
            isError: isError,
            open: nil
        )
    }

    init(
        _ name: String,
        _ kind: Kind,
        _ context: TraceContext,
        parent: SpanID?,
        link: TraceContext?,
        from start: UInt64,
        to end: UInt64,
        attributes: [String: Value],
        isError: Bool,
        open: OpenSpan?
    ) {
        self.name = name
        self.kind = kind
        self.context = context
        self.parent = parent
        self.link = link
        self.start = start
        self.end = end
        self.attributes = attributes
        self.isError = isError
        self.open = open
    }

    /// The wall clock's time in nanoseconds since 1970; only the edge calls it.
    public static func clock() -> UInt64 { DefaultTracerClock.now.nanosecondsSinceEpoch }
}
