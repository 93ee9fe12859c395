extension Product {
    /// The length of a subscription's period, such as three months.
    public struct SubscriptionPeriod: Hashable, Sendable, CustomDebugStringConvertible {
        /// The unit of a period.
        public enum Unit: Hashable, Sendable {
            /// A day.
            case day
            /// A week.
            case week
            /// A month of the calendar.
            case month
            /// A year of the calendar.
            case year
        }

        /// The unit.
        public let unit: Unit
        /// The number of units.
        public let value: Int

        /// The period as English text.
        public let debugDescription: String

        init(_ period: SKProductSubscriptionPeriod) {
            value = period.numberOfUnits
            debugDescription = period.description
            unit =
                switch period.unit {
                case .day: .day
                case .week: .week
                case .month: .month
                case .year: .year
                }
        }
    }
}
