/// A time as PostgreSQL stores it, to the microsecond.
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
    /// The server refuses a time outside PostgreSQL's range.
    public func encode(into buffer: inout [UInt8]) {
        let (value, overflow) = microsecondsSinceEpoch.subtractingReportingOverflow(Self.offset)
        // The two ends of the range mean the infinities. The next value inside is refused.
        let end: Int64 = .min + 1
        buffer.appendBigEndian(overflow ? end : max(value, end))
    }

    /// Reads `timestamp with time zone`, except for the infinities.
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

    /// Orders times chronologically.
    public static func < (left: PostgresTimestamp, right: PostgresTimestamp) -> Bool {
        left.microsecondsSinceEpoch < right.microsecondsSinceEpoch
    }
}
