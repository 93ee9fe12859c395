import EventTypes

/// A month in UTC.
///
/// The outbox has one partition for each month, and each month has its own chain of seals.
public struct LogMonth: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number of months since January of the year 0.
    private let number: Int64

    /// The month in the form `2026-11`.
    public var description: String {
        func padded(_ number: Int64, _ count: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }
        return padded(number / 12, 4) + "-" + padded(number % 12 + 1, 2)
    }

    /// The month of a time, which is given in microseconds since 1970-01-01 00:00 UTC.
    public init(microsecondsSinceEpoch: Int64) {
        func floor(_ value: Int64, _ divisor: Int64) -> (Int64, Int64) {
            let remainder = ((value % divisor) + divisor) % divisor
            return ((value - remainder) / divisor, remainder)
        }
        // The civil calendar with a year that begins in March, as in `StoreTime.description`.
        let (era, dayOfEra) = floor(
            floor(microsecondsSinceEpoch, 86_400_000_000).0 + 719_468,
            146_097
        )
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        number = (era * 400 + yearOfEra) * 12 + (5 * dayOfYear + 2) / 153 + 2
    }

    /// Reads `2026-11`.
    ///
    /// - Returns: `nil` if the text is anything else.
    public init?(_ text: some StringProtocol) {
        guard let time = StoreTime("\(text)-01T00:00:00Z"), text.utf8.count == 7 else { return nil }
        self.init(microsecondsSinceEpoch: time.millisecondsSinceEpoch * 1000)
    }

    /// The month a number of months later.
    public func advanced(by months: Int) -> LogMonth {
        LogMonth(number: number + Int64(months))
    }

    private init(number: Int64) { self.number = number }

    /// Orders months by time.
    public static func < (left: LogMonth, right: LogMonth) -> Bool {
        left.number < right.number
    }
}
