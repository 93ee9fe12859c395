public import Foundation

// Texts and UUIDs.

extension String: PostgresEncodable, PostgresDecodable {
    /// `text`.
    @inlinable
    public static var postgresType: PostgresType { .text }

    /// Appends the text in UTF-8.
    @inlinable
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

extension SIMD16: PostgresEncodable where Scalar == UInt8 {
    /// `uuid`.
    @inlinable
    public static var postgresType: PostgresType { .uuid }

    /// Appends the sixteen bytes.
    @inlinable
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
