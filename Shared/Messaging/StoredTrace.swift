public import Postgres
import StoreTracing

/// A `traceparent` as tables store it: `bytea`, in 25 bytes instead of 55 characters.
///
/// They are the 16 bytes of the trace, the 8 of the span, and the flags. In PostgreSQL,
/// `encode(traceparent, 'hex')` shows the same digits as the header, without its dashes.
public struct StoredTrace: Hashable, Sendable, PostgresEncodable, PostgresDecodable {
    private let bytes: [UInt8]

    /// Reads a `traceparent`.
    ///
    /// - Returns: `nil` if there is none, or if it is not well-formed.
    public init?(_ traceparent: String?) {
        guard let context = traceparent.flatMap({ TraceContext($0) }) else { return nil }
        bytes = context.bytes
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// The `traceparent`.
    ///
    /// Bytes that are none, because somebody changed them, are shown as hexadecimal digits. So a seal
    /// over the text notices the change, and nobody else takes the text for a trace.
    public var traceparent: String {
        TraceContext(bytes: bytes)?.description
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
