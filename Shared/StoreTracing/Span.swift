import Tracing

/// One hop of a trace: what a service did, for how long, and within what.
///
/// It is a value that is made when what it tells of is over: one commit ends hundreds at once. Names
/// and attributes are of a small set and hold nothing of accounts.
public struct Span: Sendable {
    /// What it is towards the one it was caused by; the raw values are OpenTelemetry's.
    public enum Kind: Int, Hashable, Sendable {
        /// Work within a service.
        case `internal` = 1
        /// A request that was answered.
        case server = 2
        /// A request that was made.
        case client = 3
        /// An event that was published.
        case producer = 4
        /// An event that was acted on.
        case consumer = 5
    }

    /// An attribute's value.
    public enum Value: Hashable, Sendable {
        /// A text.
        case text(String)
        /// A number.
        case number(Int)
    }

    /// What was done: `POST /v1/payments`, `apply receipt.issued.v1`.
    public let name: String
    /// What it is towards its cause.
    public let kind: Kind
    /// Its trace, and its own id.
    public let context: TraceContext
    /// The span that it was caused by; `nil` of the first.
    public let parent: SpanID?
    /// A span of another trace that had a part in it.
    public let link: TraceContext?
    /// When it began, in nanoseconds since 1970.
    public let start: UInt64
    /// When it ended, in nanoseconds since 1970.
    public let end: UInt64
    /// What else there is to say.
    public let attributes: [String: Value]
    /// Whether it came to nothing.
    public let isError: Bool
    /// What a tracer has begun for it already; `nil` for one that nothing is caused by.
    let open: OpenSpan?

    /// Makes a span of something that is over, and that nothing is caused by.
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

    /// The time of the wall clock in nanoseconds since 1970; called at the edge only.
    public static func clock() -> UInt64 { DefaultTracerClock.now.nanosecondsSinceEpoch }
}
