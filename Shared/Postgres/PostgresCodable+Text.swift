public import Foundation

// Texts, JSON, UUIDs and moments.

extension String: PostgresEncodable, PostgresDecodable {
    /// `text`.
    public static var postgresType: PostgresType { .text }

    /// Appends the text in UTF-8.
    public func encode(into buffer: inout [UInt8]) { buffer.append(contentsOf: utf8) }

    /// Reads any text, JSON, or the label of an enumeration.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> String {
        switch type {
        case .text, .varchar, .bpchar, .name, .json, .unknown, .char: break
        case let type where type.isUserDefined: break
        default: throw .mismatch(type, String.self)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw PostgresError(.decoding, "text that is not UTF-8")
        }
        return text
    }
}

/// A JSON document as its bytes.
public struct PostgresJSON: PostgresEncodable, PostgresDecodable, Hashable {
    /// The document in UTF-8.
    public let bytes: [UInt8]

    /// Wraps a document.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// `json`; the server turns it into `jsonb` where a column asks for it.
    public static var postgresType: PostgresType { .json }

    /// Appends the document.
    public func encode(into buffer: inout [UInt8]) { buffer.append(contentsOf: bytes) }

    /// Reads `json` or `jsonb`.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> PostgresJSON {
        switch type {
        case .json: return PostgresJSON(bytes: [UInt8](bytes))
        case .jsonb:
            // A byte for the version of the form comes first.
            guard bytes.first == 1 else {
                throw PostgresError(.decoding, "jsonb in a form other than 1")
            }
            return PostgresJSON(bytes: [UInt8](bytes.dropFirst()))
        default: throw .mismatch(type, PostgresJSON.self)
        }
    }
}

extension SIMD16: PostgresEncodable where Scalar == UInt8 {
    /// `uuid`.
    public static var postgresType: PostgresType { .uuid }

    /// Appends the sixteen bytes.
    public func encode(into buffer: inout [UInt8]) {
        Swift.withUnsafeBytes(of: self) { buffer.append(contentsOf: $0) }
    }
}

extension SIMD16: PostgresDecodable where Scalar == UInt8 {
    /// Reads `uuid`.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> SIMD16<UInt8> {
        guard type == .uuid, bytes.count == 16 else { throw .mismatch(type, Self.self) }
        return bytes.loadUnaligned(as: SIMD16<UInt8>.self)
    }
}

extension UUID: PostgresEncodable, PostgresDecodable {
    /// `uuid`.
    public static var postgresType: PostgresType { .uuid }

    /// Appends the sixteen bytes.
    public func encode(into buffer: inout [UInt8]) {
        Swift.withUnsafeBytes(of: uuid) { buffer.append(contentsOf: $0) }
    }

    /// Reads `uuid`.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> UUID {
        guard type == .uuid, bytes.count == 16 else { throw .mismatch(type, UUID.self) }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}

/// A moment as PostgreSQL keeps it, to the microsecond.
public struct PostgresTimestamp: PostgresEncodable, PostgresDecodable, Hashable, Comparable {
    /// Microseconds since 1970-01-01 00:00 UTC.
    public let microsecondsSinceEpoch: Int64

    /// Wraps a number of microseconds since 1970-01-01 00:00 UTC.
    public init(microsecondsSinceEpoch: Int64) {
        self.microsecondsSinceEpoch = microsecondsSinceEpoch
    }

    /// PostgreSQL counts from 2000-01-01 00:00 UTC.
    private static let offset: Int64 = 946_684_800_000_000

    /// `timestamp with time zone`.
    public static var postgresType: PostgresType { .timestamptz }

    /// Appends eight bytes.
    ///
    /// A moment outside PostgreSQL's range is one the server refuses.
    public func encode(into buffer: inout [UInt8]) {
        let (value, overflow) = microsecondsSinceEpoch.subtractingReportingOverflow(Self.offset)
        // The very ends of the range mean the infinities; one further in is refused.
        let end: Int64 = .min + 1
        buffer.appendBigEndian(overflow ? end : max(value, end))
    }

    /// Reads `timestamp with time zone`, but for the infinities.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> PostgresTimestamp {
        guard type == .timestamptz else { throw .mismatch(type, Self.self) }
        let value = try BinaryReader.only(Int64.self, in: bytes)
        let (microseconds, overflow) = value.addingReportingOverflow(offset)
        guard !overflow, value != .min else {
            throw PostgresError(.decoding, "a moment beyond what 64 bits of microseconds hold")
        }
        return PostgresTimestamp(microsecondsSinceEpoch: microseconds)
    }

    /// Orders moments by time.
    public static func < (left: PostgresTimestamp, right: PostgresTimestamp) -> Bool {
        left.microsecondsSinceEpoch < right.microsecondsSinceEpoch
    }
}
