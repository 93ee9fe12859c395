/// A value that can be a parameter of a statement.
///
/// A custom type needs only ``postgresType`` and ``encode(into:)``. Arrays and optionals of it, and
/// arrays of its optionals, can then be parameters too.
public protocol PostgresEncodable: Sendable {
    /// The declared type of the parameter.
    static var postgresType: PostgresType { get }
    /// Appends the value in PostgreSQL's binary form, without a length.
    func encode(into buffer: inout [UInt8])

    /// Whether the value is NULL.
    var isPostgresNull: Bool { get }
    /// The type of an array of these values.
    static var postgresArrayType: PostgresType { get }
    /// Appends an array of these values in PostgreSQL's binary form.
    static func encodePostgresArray(_ elements: [Self], into buffer: inout [UInt8])
}

/// A value that can be read from a column.
public protocol PostgresDecodable: Sendable {
    /// Reads a value in PostgreSQL's binary form.
    ///
    /// - Parameters:
    ///   - bytes: The value, which lives only during the call.
    ///   - type: The type of the column.
    /// - Returns: The value.
    /// - Throws: ``PostgresError`` with the code ``PostgresError/Code/decoding``, if the type or the
    ///   bytes do not fit.
    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> Self

    /// Reads NULL.
    static func decodePostgresNull() throws(PostgresError) -> Self
    /// Reads an array of these values.
    static func decodePostgresArray(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> [Self]
}

extension PostgresEncodable {
    /// Always `false`: only optionals can be NULL.
    @inlinable
    public var isPostgresNull: Bool { false }

    /// The array type of ``postgresType``.
    @inlinable
    public static var postgresArrayType: PostgresType { postgresType.array }

    /// Appends a one-dimensional array.
    @inlinable
    public static func encodePostgresArray(_ elements: [Self], into buffer: inout [UInt8]) {
        buffer.appendBigEndian(Int32(elements.isEmpty ? 0 : 1))
        // The server finds NULLs by itself; the flag is only informative.
        buffer.appendBigEndian(Int32(0))
        buffer.appendBigEndian(postgresType.oid)
        guard !elements.isEmpty else { return }
        buffer.appendBigEndian(Int32(elements.count))
        buffer.appendBigEndian(Int32(1))
        for element in elements {
            buffer.appendField(element)
        }
    }
}

extension PostgresDecodable {
    /// Always throws: only optionals can be NULL.
    public static func decodePostgresNull() throws(PostgresError) -> Self {
        throw PostgresError(.decoding, "NULL where \(Self.self) is asked for")
    }

    /// Reads a one-dimensional array.
    public static func decodePostgresArray(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> [Self] {
        var reader = BinaryReader(bytes)
        let dimensions = try reader.next(Int32.self)
        _ = try reader.next(Int32.self)
        let elementType = PostgresType(oid: try reader.next(UInt32.self))
        guard dimensions > 0 else { return [] }
        guard dimensions == 1 else {
            throw PostgresError(.decoding, "an array of \(dimensions) dimensions")
        }
        let count = Int(try reader.next(Int32.self))
        _ = try reader.next(Int32.self)
        var elements: [Self] = []
        elements.reserveCapacity(min(count, bytes.count / 4))
        for _ in 0..<max(count, 0) {
            let length = Int(try reader.next(Int32.self))
            if length < 0 {
                elements.append(try decodePostgresNull())
            } else {
                elements.append(try decode(try reader.next(length), as: elementType))
            }
        }
        return elements
    }
}

extension Optional: PostgresEncodable where Wrapped: PostgresEncodable {
    /// The type of the wrapped value.
    @inlinable
    public static var postgresType: PostgresType { Wrapped.postgresType }

    /// Whether there is no value.
    @inlinable
    public var isPostgresNull: Bool { self?.isPostgresNull ?? true }

    /// Appends the wrapped value, if there is one.
    @inlinable
    public func encode(into buffer: inout [UInt8]) {
        self?.encode(into: &buffer)
    }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    /// Reads the wrapped value.
    @inlinable
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> Wrapped? {
        try Wrapped.decode(bytes, as: type)
    }

    /// Reads NULL as `nil`.
    @inlinable
    public static func decodePostgresNull() throws(PostgresError) -> Wrapped? {
        nil
    }
}

extension Array: PostgresEncodable where Element: PostgresEncodable {
    /// The array type of the elements; `bytea` for `[UInt8]`.
    @inlinable
    public static var postgresType: PostgresType { Element.postgresArrayType }

    /// Appends the array.
    @inlinable
    public func encode(into buffer: inout [UInt8]) {
        Element.encodePostgresArray(self, into: &buffer)
    }
}

extension Array: PostgresDecodable where Element: PostgresDecodable {
    /// Reads an array; for `[UInt8]` the bytes of the value.
    @inlinable
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> [Element] {
        try Element.decodePostgresArray(bytes, as: type)
    }
}

/// Reads values in PostgreSQL's binary form from the front of a buffer.
struct BinaryReader {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes[...]
    }

    mutating func next<T: FixedWidthInteger & BitwiseCopyable>(
        _ type: T.Type
    ) throws(PostgresError) -> T {
        T(bigEndian: try next(MemoryLayout<T>.size).loadUnaligned(as: T.self))
    }

    mutating func next(_ count: Int) throws(PostgresError) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= rest.count else {
            throw PostgresError(.decoding, "a value that ends too early")
        }
        defer { rest = rest.dropFirst(count) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }
}

extension [UInt8] {
    /// Appends an integer in network byte order.
    @inlinable
    mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    /// Appends a value after its length, or the marker of NULL.
    @inlinable
    mutating func appendField<T: PostgresEncodable>(_ value: T) {
        guard !value.isPostgresNull else {
            appendBigEndian(Int32(-1))
            return
        }
        let start = count
        appendBigEndian(Int32(0))
        value.encode(into: &self)
        let length = UInt32(count - start - 4)
        self[start] = UInt8(truncatingIfNeeded: length >> 24)
        self[start + 1] = UInt8(truncatingIfNeeded: length >> 16)
        self[start + 2] = UInt8(truncatingIfNeeded: length >> 8)
        self[start + 3] = UInt8(truncatingIfNeeded: length)
    }
}
