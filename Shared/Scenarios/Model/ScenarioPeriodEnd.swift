import EventTypes
import Foundation

/// An end that is counted from the start of a subscription.
public struct ScenarioPeriodEnd: Hashable, Sendable {
    /// The ends.
    public enum Kind: String, CaseIterable, Sendable {
        /// The end of the newest period.
        case ends
        /// The end of the account's entitlement.
        case ownedUntil
    }

    /// The end.
    public let kind: Kind
    /// Whether it is counted in months.
    ///
    /// Otherwise it is counted in days.
    public let isInMonths: Bool

    /// A length of calendar time in the unit of the end, such as `3 months`.
    func text(_ length: SubscriptionPeriod) -> String {
        switch length.unit {
        case .day: Self.text(length.value, "day")
        case .week: Self.text(length.value * 7, "day")
        case .month: Self.text(length.value, "month")
        case .year: Self.text(length.value * 12, "month")
        }
    }

    /// The time from the start of a subscription to the end, counted in UTC.
    func text(from start: StoreTime, to end: StoreTime) -> String {
        let calendar = PeriodCalendar(timeZone: .gmt)
        let unit = SubscriptionPeriod(1, isInMonths ? .month : .day)
        func time(_ count: Int) -> StoreTime {
            calendar.end(ofPeriod: count, lasting: unit, from: start)
        }
        guard end > start else { return "\(end), before the subscription" }
        // A month has at least 28 days, so the count never overshoots by much.
        let days = Int(end.duration(since: start).milliseconds / 86_400_000)
        var count = isInMonths ? days / 31 : days
        while time(count + 1) <= end { count += 1 }
        let whole = Self.text(count, isInMonths ? "month" : "day")
        guard let rest = ClockSpan(end.duration(since: time(count))) else { return whole }
        return "\(whole) and \(rest)"
    }

    private static func text(_ count: Int, _ unit: String) -> String {
        "\(count) \(unit)\(count == 1 ? "" : "s")"
    }
}
