/// A position in a trace: the contents of a `traceparent`.
///
/// (W3C Trace Context, level 1, section 3.2.) It is parsed strictly, so that stored and forwarded
/// values are always well-formed. A malformed value is ignored and causes no error for the sender.
public struct TraceContext: Hashable, Sendable, CustomStringConvertible {
    /// The trace: everything that one request led to.
    public let traceID: TraceID
    /// The current span, which is the parent of what follows.
    public let spanID: SpanID
    /// Whether the spans of the trace are to be recorded.
    public let isSampled: Bool

    private init(traceID: TraceID, spanID: SpanID, isSampled: Bool) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// Another span of the same trace.
    init(_ context: TraceContext, at spanID: SpanID) {
        self.init(traceID: context.traceID, spanID: spanID, isSampled: context.isSampled)
    }

    /// Begins a trace, with random ids.
    public static func begin() -> TraceContext {
        var randomBits = SystemRandomNumberGenerator()
        return begin(using: &randomBits)
    }

    /// Begins a trace, with ids from a source of random bits.
    package static func begin(using randomBits: inout some RandomNumberGenerator) -> TraceContext {
        TraceContext(
            traceID: TraceID(using: &randomBits),
            spanID: SpanID(using: &randomBits),
            isSampled: true
        )
    }

    /// A new span of the same trace.
    public func child() -> TraceContext {
        var randomBits = SystemRandomNumberGenerator()
        return TraceContext(
            traceID: traceID,
            spanID: SpanID(using: &randomBits),
            isSampled: isSampled
        )
    }

    /// Reads a `traceparent`.
    ///
    /// - Returns: `nil` if it is not well-formed.
    public init?(_ traceparent: some StringProtocol) {
        self.init(utf8: Array(traceparent.utf8))
    }

    /// Reads the UTF-8 of a `traceparent`: `<version>-<trace>-<span>-<flags>`.
    ///
    /// A future version may have more fields after another `-`. They are dropped, and so are flags
    /// other than *sampled*, as the specification requires.
    ///
    /// - Returns: `nil` if it is not well-formed, or an id is all zeros.
    public init?(utf8 bytes: [UInt8]) {
        let dash = UInt8(ascii: "-")
        guard (55...512).contains(bytes.count), bytes[2] == dash, bytes[35] == dash,
            bytes[52] == dash, let version = UInt64(digits: bytes[0..<2]), version != 0xFF,
            bytes.count == 55 || (version > 0 && bytes[55] == dash),
            let traceID = TraceID(digits: bytes[3..<35]),
            let spanID = SpanID(digits: bytes[36..<52]),
            let flags = UInt64(digits: bytes[53..<55])
        else { return nil }
        self.init(traceID: traceID, spanID: spanID, isSampled: flags & 1 == 1)
    }

    /// Reads what ``bytes`` gives.
    ///
    /// - Returns: `nil` for anything else.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 25, bytes[24] <= 1, let traceID = TraceID(bytes: bytes[0..<16]),
            let spanID = SpanID(bytes: bytes[16..<24])
        else { return nil }
        self.init(traceID: traceID, spanID: spanID, isSampled: bytes[24] == 1)
    }

    /// The same in 25 bytes: the 16 of the trace, the 8 of the span, and the flags.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(25)
        traceID.append(to: &bytes)
        spanID.append(to: &bytes)
        bytes.append(isSampled ? 1 : 0)
        return bytes
    }

    /// The `traceparent`, in version 00.
    ///
    /// Every event is published with it and sealed with it, so it is written in one piece.
    public var description: String {
        String(unsafeUninitializedCapacity: 55) { text in
            let (zero, dash) = (UInt8(ascii: "0"), UInt8(ascii: "-"))
            (text[0], text[1], text[2]) = (zero, zero, dash)
            traceID.write(to: text, at: 3)
            text[35] = dash
            spanID.write(to: text, at: 36)
            (text[52], text[53], text[54]) = (dash, zero, isSampled ? zero + 1 : zero)
            return 55
        }
    }
}

extension TraceContext: Codable {
    /// Decodes a `traceparent`.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if it is not well-formed.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let context = TraceContext(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "expected a traceparent"
            )
        }
        self = context
    }

    /// Encodes the `traceparent`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
