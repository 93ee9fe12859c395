public import Postgres
public import StoreTracing

/// A `traceparent` as tables store it: `bytea`, in 25 bytes instead of 55 characters.
///
/// They are the 16 bytes of the trace, the 8 of the span, and the flags. In PostgreSQL,
/// `encode(traceparent, 'hex')` shows the same digits as the header, without its dashes.
public struct StoredTrace: Hashable, Sendable, PostgresEncodable, PostgresDecodable {
    /// The trace context; `nil` if somebody changed the bytes so that they are none.
    public let context: TraceContext?
    private let bytes: [UInt8]

    /// Stores a trace context.
    ///
    /// - Returns: `nil` if there is none.
    public init?(_ context: TraceContext?) {
        guard let context else { return nil }
        self.context = context
        bytes = context.bytes
    }

    private init(bytes: [UInt8]) {
        context = TraceContext(bytes: bytes)
        self.bytes = bytes
    }

    /// The `traceparent` as text.
    ///
    /// Bytes that are none are shown as hexadecimal digits, and nobody takes these for a trace. So
    /// a seal over the text notices that somebody changed them.
    public var text: String {
        context?.description
            ?? bytes.map { ($0 < 0x10 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    // MARK: - Columns

    /// `bytea`.
    public static var postgresType: PostgresType { [UInt8].postgresType }

    /// Writes the bytes.
    public func encode(into buffer: inout [UInt8]) { buffer.append(contentsOf: bytes) }

    /// Reads the bytes, of whatever form.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> StoredTrace {
        StoredTrace(bytes: try [UInt8].decode(bytes, as: type))
    }
}
