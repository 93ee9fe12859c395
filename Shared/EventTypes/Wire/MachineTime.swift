/// A time of the machines' clock, in milliseconds since 1970-01-01 00:00 UTC.
///
/// It measures what protects a process or a connection: tokens, leases, certificates, retries, log
/// lines. Nothing that a buyer or a merchant sees has machine time; that is ``StoreTime``, the
/// store's time. A sandbox may set the store's clock, but nobody sets this one.
public struct MachineTime: PointInTime, Encodable {
    /// The milliseconds since 1970-01-01 00:00 UTC.
    public let millisecondsSinceEpoch: Int64

    /// Wraps a number of milliseconds since 1970-01-01 00:00 UTC.
    public init(millisecondsSinceEpoch: Int64) {
        self.millisecondsSinceEpoch = millisecondsSinceEpoch
    }

    /// Encodes the time as a JSON number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(millisecondsSinceEpoch)
    }
}
