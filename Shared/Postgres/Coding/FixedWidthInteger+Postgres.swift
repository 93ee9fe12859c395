// Numbers and Booleans. A column may be narrower than the Swift type, never wider.

extension Int16: PostgresEncodable, PostgresDecodable {
    /// `smallint`.
    @inlinable
    public static var postgresType: PostgresType { .int2 }

    /// Appends two bytes.
    @inlinable
    public func encode(into buffer: inout [UInt8]) { buffer.appendBigEndian(self) }

    /// Reads `smallint`.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> Int16 {
        try decodeInteger(bytes, as: type)
    }
}

extension Int32: PostgresEncodable, PostgresDecodable {
    /// `integer`.
    @inlinable
    public static var postgresType: PostgresType { .int4 }

    /// Appends four bytes.
    @inlinable
    public func encode(into buffer: inout [UInt8]) { buffer.appendBigEndian(self) }

    /// Reads `integer` or narrower.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> Int32 {
        try decodeInteger(bytes, as: type)
    }
}

extension Int64: PostgresEncodable, PostgresDecodable {
    /// `bigint`.
    @inlinable
    public static var postgresType: PostgresType { .int8 }

    /// Appends eight bytes.
    @inlinable
    public func encode(into buffer: inout [UInt8]) { buffer.appendBigEndian(self) }

    /// Reads `bigint`, `oid` or narrower.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> Int64 {
        try decodeInteger(bytes, as: type)
    }
}

extension Int: PostgresEncodable, PostgresDecodable {
    /// `bigint`.
    @inlinable
    public static var postgresType: PostgresType { .int8 }

    /// Appends eight bytes.
    @inlinable
    public func encode(into buffer: inout [UInt8]) { buffer.appendBigEndian(Int64(self)) }

    /// Reads `bigint`, `oid` or narrower.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> Int {
        try decodeInteger(bytes, as: type)
    }
}

extension UInt64: PostgresEncodable, PostgresDecodable {
    /// `xid8`, PostgreSQL's only unsigned number of 64 bits.
    @inlinable
    public static var postgresType: PostgresType { .xid8 }

    /// Appends eight bytes.
    @inlinable
    public func encode(into buffer: inout [UInt8]) { buffer.appendBigEndian(self) }

    /// Reads `xid8`, `oid`, or an integer that is not negative.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> UInt64 {
        if type == .xid8 {
            return try BinaryReader.only(UInt64.self, in: bytes)
        }
        return try decodeInteger(bytes, as: type)
    }
}

extension UInt8: PostgresEncodable, PostgresDecodable {
    /// `"char"`, PostgreSQL's type of one byte.
    ///
    /// An array of bytes is one `bytea`.
    @inlinable
    public static var postgresType: PostgresType { .char }

    /// Appends one byte.
    @inlinable
    public func encode(into buffer: inout [UInt8]) { buffer.append(self) }

    /// `bytea`.
    @inlinable
    public static var postgresArrayType: PostgresType { .bytea }

    /// Appends the bytes as they are.
    @inlinable
    public static func encodePostgresArray(_ elements: [UInt8], into buffer: inout [UInt8]) {
        buffer.append(contentsOf: elements)
    }

    /// Reads `"char"`.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> UInt8 {
        guard type == .char else { throw .mismatch(type, UInt8.self) }
        return try BinaryReader.only(UInt8.self, in: bytes)
    }

    /// Reads `bytea`, or the text of `text` and `json`.
    public static func decodePostgresArray(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> [UInt8] {
        switch type {
        case .bytea, .text, .varchar, .json: [UInt8](bytes)
        default: throw .mismatch(type, [UInt8].self)
        }
    }
}

extension Bool: PostgresEncodable, PostgresDecodable {
    /// `boolean`.
    @inlinable
    public static var postgresType: PostgresType { .bool }

    /// Appends one byte.
    @inlinable
    public func encode(into buffer: inout [UInt8]) { buffer.append(self ? 1 : 0) }

    /// Reads `boolean`.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> Bool {
        guard type == .bool else { throw .mismatch(type, Bool.self) }
        return try BinaryReader.only(UInt8.self, in: bytes) != 0
    }
}

extension Double: PostgresEncodable, PostgresDecodable {
    /// `double precision`.
    @inlinable
    public static var postgresType: PostgresType { .float8 }

    /// Appends eight bytes.
    @inlinable
    public func encode(into buffer: inout [UInt8]) { buffer.appendBigEndian(bitPattern) }

    /// Reads `double precision` or `real`.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> Double {
        switch type {
        case .float8: Double(bitPattern: try BinaryReader.only(UInt64.self, in: bytes))
        case .float4: Double(Float(bitPattern: try BinaryReader.only(UInt32.self, in: bytes)))
        default: throw .mismatch(type, Double.self)
        }
    }
}

extension FixedWidthInteger {
    /// Reads an integer column into a type that is at least as wide.
    fileprivate static func decodeInteger(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> Self {
        let wide: Int64
        switch type {
        case .int8 where bitWidth == 64: wide = try BinaryReader.only(Int64.self, in: bytes)
        case .int4 where bitWidth >= 32: wide = Int64(try BinaryReader.only(Int32.self, in: bytes))
        case .int2: wide = Int64(try BinaryReader.only(Int16.self, in: bytes))
        case .objectID where bitWidth == 64:
            wide = Int64(try BinaryReader.only(UInt32.self, in: bytes))
        default: throw .mismatch(type, Self.self)
        }
        guard let value = Self(exactly: wide) else {
            throw PostgresError(.decoding, "a negative number where \(Self.self) is asked for")
        }
        return value
    }
}

extension BinaryReader {
    /// Reads a value that consists of exactly one integer.
    static func only<T: FixedWidthInteger & BitwiseCopyable>(
        _ type: T.Type,
        in bytes: UnsafeRawBufferPointer
    ) throws(PostgresError) -> T {
        guard bytes.count == MemoryLayout<T>.size else {
            throw PostgresError(.decoding, "\(bytes.count) bytes where \(T.self) is asked for")
        }
        return T(bigEndian: bytes.loadUnaligned(as: T.self))
    }
}

extension PostgresError {
    /// The error for a column that was read as a type it cannot be read as.
    static func mismatch(_ type: PostgresType, _ asked: Any.Type) -> PostgresError {
        PostgresError(.decoding, "\(type) cannot be read as \(asked); cast it in the statement")
    }
}
