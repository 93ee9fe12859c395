public import EventTypes

/// The speed of the store's clock, with the names of StoreKitTest.
///
/// The whole store has one clock. A month has 30.4375 days on average.
public struct TimeRate: Hashable, Sendable {
    /// As fast as the machines' clock.
    public static let realTime = TimeRate(.one)
    /// A month in an hour.
    public static let monthlyRenewalEveryHour = TimeRate(month: 3600)
    /// A month in 30 minutes.
    public static let monthlyRenewalEveryThirtyMinutes = TimeRate(month: 1800)
    /// A month in 15 minutes.
    public static let monthlyRenewalEveryFifteenMinutes = TimeRate(month: 900)
    /// A month in five minutes.
    public static let monthlyRenewalEveryFiveMinutes = TimeRate(month: 300)
    /// A month in 30 seconds.
    public static let monthlyRenewalEveryThirtySeconds = TimeRate(month: 30)

    /// The rate of the clock.
    public let rate: ClockRate

    /// Wraps a rate of the clock.
    public init(_ rate: ClockRate) { self.rate = rate }

    private init(month seconds: Int64) {
        // Every one of these lies between the slowest and the fastest rate.
        rate = ClockRate(.seconds(2_629_800), each: .seconds(seconds)) ?? .one
    }

    /// The rate with a number of StoreKitTest, as in a StoreKit configuration file; `nil` for real time
    /// and for rates that renew subscriptions of every length equally often.
    init?(storeKit number: Int) {
        let day = Duration.seconds(86_400)
        let rate: ClockRate?
        switch number {
        case 1: rate = ClockRate(day, each: .seconds(3600))
        case 2: rate = ClockRate(day, each: .seconds(1800))
        case 3: rate = ClockRate(day, each: .seconds(300))
        case 4: rate = ClockRate(day, each: .seconds(60))
        case 5: rate = ClockRate(day, each: .seconds(30))
        case 6: rate = ClockRate(day, each: .seconds(1))
        case 10: rate = Self.monthlyRenewalEveryHour.rate
        case 11: rate = Self.monthlyRenewalEveryThirtyMinutes.rate
        case 12: rate = Self.monthlyRenewalEveryFifteenMinutes.rate
        case 13: rate = Self.monthlyRenewalEveryFiveMinutes.rate
        case 15: rate = Self.monthlyRenewalEveryThirtySeconds.rate
        default: rate = nil
        }
        guard let rate else { return nil }
        self.rate = rate
    }
}
