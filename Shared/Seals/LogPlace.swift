/// A place in a log of a service's database.
///
/// Rows are ordered by the database transactions that wrote them, and within one by the order of
/// writing.
public struct LogPlace: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The database transaction's id (`pg_current_xact_id`).
    public let xid: UInt64
    /// The row's number.
    public let position: Int64

    /// The place before the first row.
    public static let start = LogPlace(xid: 0, position: 0)

    /// Makes a place.
    public init(xid: UInt64, position: Int64) {
        self.xid = xid
        self.position = position
    }

    /// The place in the form used in headers and files: `xid:position`.
    public var description: String { String(decoding: utf8, as: UTF8.self) }

    /// The UTF-8 of ``description``, which is in two headers of every event.
    public var utf8: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 41) { text, count in
            Self.write(xid, to: text, &count)
            text[count] = UInt8(ascii: ":")
            count += 1
            if position < 0 {
                text[count] = UInt8(ascii: "-")
                count += 1
            }
            Self.write(position.magnitude, to: text, &count)
        }
    }

    private static func write(
        _ number: UInt64,
        to text: UnsafeMutableBufferPointer<UInt8>,
        _ count: inout Int
    ) {
        var digits = 1
        var rest = number / 10
        while rest > 0 {
            digits += 1
            rest /= 10
        }
        rest = number
        for index in (count..<count + digits).reversed() {
            text[index] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        count += digits
    }

    /// Reads the characters of `xid:position`.
    public init?(utf8 characters: [UInt8]) {
        guard let place = characters.withUnsafeBufferPointer({ LogPlace(utf8: $0) }) else {
            return nil
        }
        self = place
    }

    /// Reads the same where it lies.
    public init?(utf8 characters: UnsafeBufferPointer<UInt8>) {
        guard let colon = characters.firstIndex(of: UInt8(ascii: ":")),
            let xid = Self.number(characters[..<colon], as: UInt64.self),
            let position = Self.number(characters[(colon + 1)...], as: Int64.self)
        else { return nil }
        self.init(xid: xid, position: position)
    }

    private static func number<Number: FixedWidthInteger>(
        _ digits: Slice<UnsafeBufferPointer<UInt8>>,
        as type: Number.Type
    ) -> Number? {
        guard !digits.isEmpty else { return nil }
        var value: Number = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let (tens, tooBig) = value.multipliedReportingOverflow(by: 10)
            let (sum, stillTooBig) = tens.addingReportingOverflow(Number(digit - 0x30))
            guard !tooBig, !stillTooBig else { return nil }
            value = sum
        }
        return value
    }

    /// Orders places as in the log.
    public static func < (left: LogPlace, right: LogPlace) -> Bool {
        (left.xid, left.position) < (right.xid, right.position)
    }
}
