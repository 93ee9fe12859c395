/// A span of time as people write it to the store's clock: `31d`, `1h30m`, `500ms`.
///
/// The units are `w`, `d`, `h`, `m`, `s` and `ms`, larger ones first. There are no months and years,
/// because their lengths differ.
public struct ClockSpan: Hashable, Sendable, CustomStringConvertible {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000),
        ("ms", 1),
    ]

    /// The longest span: about a century.
    public static let max = Duration.seconds(36_525 * 86_400)

    /// The span's length, at least a millisecond.
    public let duration: Duration

    /// Wraps a duration.
    ///
    /// It is `nil` if the duration is shorter than a millisecond or longer than ``max``.
    public init?(_ duration: Duration) {
        guard duration >= .milliseconds(1), duration <= Self.max else { return nil }
        self.duration = .milliseconds(duration.milliseconds)
    }

    /// Reads a span.
    ///
    /// It is `nil` if the text is anything else: a unit is unknown, occurs twice or after a smaller
    /// one, or the whole is zero or longer than ``max``.
    public init?(_ text: some StringProtocol) {
        var rest = Substring(text)
        var units = Self.units[...]
        var sum: Int64 = 0
        repeat {
            let digits = rest.prefix { ("0"..."9").contains($0) }
            rest = rest.dropFirst(digits.count)
            let name = rest.prefix { ("a"..."z").contains($0) }
            rest = rest.dropFirst(name.count)
            guard let count = Int64(digits),
                let index = units.firstIndex(where: { $0.name == name })
            else { return nil }
            let (product, isTooLong) = count.multipliedReportingOverflow(
                by: Self.units[index].milliseconds
            )
            let (total, overflows) = sum.addingReportingOverflow(product)
            guard !isTooLong, !overflows else { return nil }
            sum = total
            units = Self.units[(index + 1)...]
        } while !rest.isEmpty
        self.init(.milliseconds(sum))
    }

    /// The span in the fewest units: `4w3d` is 31 days.
    public var description: String {
        var rest = duration.milliseconds
        return Self.units.map { unit in
            let count = rest / unit.milliseconds
            rest %= unit.milliseconds
            return count == 0 ? "" : "\(count)\(unit.name)"
        }.joined()
    }
}
