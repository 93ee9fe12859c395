/// The id of a trace: 16 bytes, never all zero; 32 lower-case hexadecimal digits.
public struct TraceID: Hashable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// Reads 32 lower-case hexadecimal digits.
    ///
    /// - Returns: `nil` if the string is anything else, or all zeros.
    public init?(_ string: some StringProtocol) {
        let digits = Array(string.utf8)
        guard digits.count == 32 else { return nil }
        self.init(digits: digits[...])
    }

    fileprivate init?(digits: ArraySlice<UInt8>) {
        let middle = digits.startIndex + 16
        guard let high = UInt64(digits: digits[..<middle]),
            let low = UInt64(digits: digits[middle...]), high != 0 || low != 0
        else { return nil }
        self.high = high
        self.low = low
    }

    fileprivate init(using randomBits: inout some RandomNumberGenerator) {
        high = randomBits.next()
        // All zeros would be no id.
        low = .random(in: 1 ... .max, using: &randomBits)
    }

    /// 32 lower-case hexadecimal digits.
    public var description: String { high.hexadecimal + low.hexadecimal }
}

/// The id of a span within its trace: 8 bytes, never all zero; 16 lower-case hexadecimal digits.
public struct SpanID: Hashable, Sendable, CustomStringConvertible {
    private let number: UInt64

    /// Reads 16 lower-case hexadecimal digits.
    ///
    /// - Returns: `nil` if the string is anything else, or all zeros.
    public init?(_ string: some StringProtocol) {
        let digits = Array(string.utf8)
        guard digits.count == 16 else { return nil }
        self.init(digits: digits[...])
    }

    fileprivate init?(digits: ArraySlice<UInt8>) {
        guard let number = UInt64(digits: digits), number != 0 else { return nil }
        self.number = number
    }

    fileprivate init(using randomBits: inout some RandomNumberGenerator) {
        number = .random(in: 1 ... .max, using: &randomBits)
    }

    /// 16 lower-case hexadecimal digits.
    public var description: String { number.hexadecimal }
}

/// Where something happens within a trace: what a `traceparent` carries.
///
/// (W3C Trace Context, level 1, section 3.2.) Read strictly, so that what is stored and sent on is
/// always well-formed; what is not is as if it were not there, never an error to its sender.
public struct TraceContext: Hashable, Sendable, CustomStringConvertible {
    /// The trace: everything that one request led to.
    public let traceID: TraceID
    /// The span that it happens in, the parent of what follows.
    public let spanID: SpanID
    /// Whether spans of the trace are to be recorded where spans are.
    public let isSampled: Bool

    private init(traceID: TraceID, spanID: SpanID, isSampled: Bool) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// Begins a trace, with random ids.
    public static func begin() -> TraceContext {
        var randomBits = SystemRandomNumberGenerator()
        return TraceContext(
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
    /// A version of the future may say more behind another `-`; of that nothing is kept, and neither
    /// are flags other than *sampled*, as the specification asks for.
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

    /// The `traceparent`, in version 00.
    public var description: String { "00-\(traceID)-\(spanID)-0\(isSampled ? 1 : 0)" }
}

extension UInt64 {
    /// Reads up to 16 lower-case hexadecimal digits.
    fileprivate init?(digits: ArraySlice<UInt8>) {
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case 0x30...0x39: value = value << 4 | UInt64(digit - 0x30)
            case 0x61...0x66: value = value << 4 | UInt64(digit - 0x61 + 10)
            default: return nil
            }
        }
        self = value
    }

    /// 16 lower-case hexadecimal digits.
    fileprivate var hexadecimal: String {
        String(unsafeUninitializedCapacity: 16) { digits in
            for index in 0..<16 {
                let value = UInt8(truncatingIfNeeded: self >> UInt64(60 - 4 * index)) & 0xF
                digits[index] = value < 10 ? 0x30 + value : 0x61 + value - 10
            }
            return 16
        }
    }
}
