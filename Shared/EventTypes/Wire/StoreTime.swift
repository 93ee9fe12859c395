/// A time of the store's clock, in milliseconds since 1970-01-01 00:00 UTC.
///
/// Everything with a meaning for buyers and merchants has store time: purchases, refunds,
/// approvals, deliveries, and the dates in receipts and events. Times that protect a process or a
/// connection have machine time: tokens, leases, certificates, retries.
///
/// The wire format is this JSON number, as for every date in Apple's signed transactions.
public struct StoreTime: PointInTime, Codable {
    /// The milliseconds since 1970-01-01 00:00 UTC.
    public let millisecondsSinceEpoch: Int64

    /// Wraps a number of milliseconds since 1970-01-01 00:00 UTC.
    public init(millisecondsSinceEpoch: Int64) {
        self.millisecondsSinceEpoch = millisecondsSinceEpoch
    }

    /// Decodes the time from a JSON number.
    public init(from decoder: any Decoder) throws {
        millisecondsSinceEpoch = try decoder.singleValueContainer().decode(Int64.self)
    }

    /// Encodes the time as a JSON number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(millisecondsSinceEpoch)
    }
}
