/// A number that was counted up to a limit, so that no command reads without end.
package struct BoundedCount: Hashable, Sendable, CustomStringConvertible {
    /// The number that was counted.
    package let count: Int
    /// Whether there may be more than that.
    package let isAtLeast: Bool

    /// Makes a count.
    package init(_ count: Int, isAtLeast: Bool = false) {
        self.count = count
        self.isAtLeast = isAtLeast
    }

    /// Makes a count from the result of a query with `LIMIT limit + 1`.
    package init(_ found: Int, limit: Int) {
        self.init(min(found, limit), isAtLeast: found > limit)
    }

    /// `1,234`, or `more than 10,000`.
    package var description: String {
        (isAtLeast ? "more than " : "") + count.grouped
    }
}

extension Int {
    /// The number with separated thousands: `12,345`.
    package var grouped: String {
        var digits = String(magnitude)
        var groups: [Substring] = []
        while digits.count > 3 {
            groups.insert(digits.suffix(3), at: 0)
            digits = String(digits.dropLast(3))
        }
        return (self < 0 ? "-" : "") + ([Substring(digits)] + groups).joined(separator: ",")
    }
}
