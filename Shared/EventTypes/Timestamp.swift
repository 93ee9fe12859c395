public import Foundation

/// A moment, in milliseconds since 1970-01-01 00:00 UTC, which is also its form on the wire
/// (a JSON number, as every date in Apple's signed transactions).
public struct Timestamp: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// Milliseconds since 1970-01-01 00:00 UTC.
    public let millisecondsSinceEpoch: Int64

    /// Wraps a number of milliseconds since 1970-01-01 00:00 UTC.
    public init(millisecondsSinceEpoch: Int64) {
        self.millisecondsSinceEpoch = millisecondsSinceEpoch
    }

    /// Reads the wall clock. Called at the edge only; everything else takes the time as an argument.
    public static func wallClock() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(
            millisecondsSinceEpoch: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
        )
    }

    /// The moment a duration later, rounded down to the millisecond.
    public func advanced(by duration: Duration) -> Timestamp {
        Timestamp(millisecondsSinceEpoch: millisecondsSinceEpoch + duration.milliseconds)
    }

    /// The time from another moment to this one; negative if the other is later.
    public func duration(since other: Timestamp) -> Duration {
        .milliseconds(millisecondsSinceEpoch - other.millisecondsSinceEpoch)
    }

    /// The moment as Foundation's date.
    public var date: Date { Date(timeIntervalSince1970: Double(millisecondsSinceEpoch) / 1000) }

    /// Orders moments by time.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.millisecondsSinceEpoch < right.millisecondsSinceEpoch
    }

    /// The moment in RFC 3339 with milliseconds, in UTC.
    public var description: String {
        date.formatted(
            .iso8601.year().month().day().timeZone(separator: .omitted)
                .time(includingFractionalSeconds: true)
        )
    }

    /// Reads the moment from a JSON number.
    public init(from decoder: any Decoder) throws {
        millisecondsSinceEpoch = try decoder.singleValueContainer().decode(Int64.self)
    }

    /// Writes the moment as a JSON number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(millisecondsSinceEpoch)
    }
}

extension Duration {
    /// The duration in whole milliseconds, rounded towards zero.
    public var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
