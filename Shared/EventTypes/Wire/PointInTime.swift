public import Foundation

/// A point in time in milliseconds since 1970-01-01 00:00 UTC, by one of the store's two clocks.
///
/// Times of different clocks are different types, ``StoreTime`` and ``MachineTime``: they can be
/// neither compared nor mixed up.
public protocol PointInTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The milliseconds since 1970-01-01 00:00 UTC.
    var millisecondsSinceEpoch: Int64 { get }
    /// Wraps a number of milliseconds since 1970-01-01 00:00 UTC.
    init(millisecondsSinceEpoch: Int64)
}

extension PointInTime {
    /// Adds a duration, rounded down to the millisecond.
    public func advanced(by duration: Duration) -> Self {
        Self(millisecondsSinceEpoch: millisecondsSinceEpoch + duration.milliseconds)
    }

    /// Returns the time from another time to this one; negative if the other is later.
    public func duration(since other: Self) -> Duration {
        .milliseconds(millisecondsSinceEpoch - other.millisecondsSinceEpoch)
    }

    /// The time as Foundation's date.
    public var date: Date { Date(timeIntervalSince1970: Double(millisecondsSinceEpoch) / 1000) }

    /// Orders times, earlier first.
    public static func < (left: Self, right: Self) -> Bool {
        left.millisecondsSinceEpoch < right.millisecondsSinceEpoch
    }

    /// Reads a time in RFC 3339, in UTC, with or without milliseconds.
    ///
    /// ``description`` writes this form.
    ///
    /// - Returns: `nil` if the string is anything else.
    public init?(_ string: some StringProtocol) {
        self.init(utf8: Array(string.utf8))
    }

    /// Reads the UTF-8 of a time in RFC 3339, in UTC, with or without milliseconds.
    ///
    /// - Returns: `nil` if the bytes are anything else.
    public init?(utf8 bytes: [UInt8]) {
        guard let time = bytes.withUnsafeBufferPointer({ Self(utf8: $0) }) else { return nil }
        self = time
    }

    /// Reads the same where it lies.
    ///
    /// - Returns: `nil` if the bytes are anything else.
    public init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        func number(_ range: Range<Int>) -> Int64? {
            var value: Int64 = 0
            for index in range {
                let byte = bytes[index]
                guard (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - 0x30)
            }
            return value
        }
        guard bytes.count == 20 || bytes.count == 24, bytes.last == UInt8(ascii: "Z"),
            let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let millisecond = bytes.count == 24 ? number(20..<23) : 0,
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        // Count the days of the civil calendar, with years that begin in March so that the leap day
        // is the last day.
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let days = 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
        self.init(
            millisecondsSinceEpoch: (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000
                + millisecond
        )
    }

    /// The time in RFC 3339 with milliseconds, in UTC: `2026-11-21T02:00:00.000Z`.
    public var description: String {
        func floor(_ value: Int64, _ divisor: Int64) -> (Int64, Int64) {
            let remainder = ((value % divisor) + divisor) % divisor
            return ((value - remainder) / divisor, remainder)
        }
        let (days, inDay) = floor(millisecondsSinceEpoch, 86_400_000)
        let (era, dayOfEra) = floor(days + 719_468, 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let afterYear = String(unsafeUninitializedCapacity: 20) { buffer in
            var position = 0
            func put(_ value: Int64, _ count: Int, after mark: UInt8) {
                buffer[position] = mark
                var rest = value
                for index in (position + 1...position + count).reversed() {
                    buffer[index] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                position += count + 1
            }
            put(month, 2, after: UInt8(ascii: "-"))
            put(day, 2, after: UInt8(ascii: "-"))
            put(inDay / 3_600_000, 2, after: UInt8(ascii: "T"))
            put(inDay / 60_000 % 60, 2, after: UInt8(ascii: ":"))
            put(inDay / 1000 % 60, 2, after: UInt8(ascii: ":"))
            put(inDay % 1000, 3, after: UInt8(ascii: "."))
            buffer[position] = UInt8(ascii: "Z")
            return position + 1
        }
        let digits = String(year)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits + afterYear
    }
}

extension Duration {
    /// The duration in whole milliseconds, rounded towards zero.
    public var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
