import EventTypes

/// The length of a subscription's period: a number of days, weeks, months or years.
public final class SKProductSubscriptionPeriod: Sendable, Hashable, CustomStringConvertible {
    /// The number of units, from 1.
    public let numberOfUnits: Int
    /// The unit.
    public let unit: SKProduct.PeriodUnit

    init(_ period: SubscriptionPeriod) {
        numberOfUnits = period.value
        unit = SKProduct.PeriodUnit(period.unit)
    }

    /// A short description, such as `3 months`.
    public var description: String {
        "\(numberOfUnits) \(unit)\(numberOfUnits == 1 ? "" : "s")"
    }

    /// Whether two periods have the same number of the same unit.
    ///
    /// Seven days and one week are different.
    public static func == (
        left: SKProductSubscriptionPeriod,
        right: SKProductSubscriptionPeriod
    ) -> Bool {
        left.numberOfUnits == right.numberOfUnits && left.unit == right.unit
    }

    /// Hashes the number and the unit.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(numberOfUnits)
        hasher.combine(unit)
    }
}

extension SKProduct {
    /// A unit of calendar time.
    public enum PeriodUnit: UInt, Sendable {
        /// A day.
        case day = 0
        /// Seven days.
        case week = 1
        /// A calendar month.
        case month = 2
        /// A calendar year.
        case year = 3

        init(_ unit: SubscriptionPeriod.Unit) {
            switch unit {
            case .day: self = .day
            case .week: self = .week
            case .month: self = .month
            case .year: self = .year
            }
        }
    }
}
