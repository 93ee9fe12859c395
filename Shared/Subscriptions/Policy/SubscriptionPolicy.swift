public import EventTypes

/// The decisions of a store about its subscriptions: when it charges, how long it tries, how it
/// counts.
///
/// Durations are those of real time. A sandbox with faster periods has a ``rate``.
public struct SubscriptionPolicy: Sendable {
    /// The renewals that have a grace period if they fail (rule S85).
    public enum GraceScope: Sendable {
        /// All of them.
        case allRenewals
        /// Those after a period that cost something.
        case paidToPaidOnly
    }

    /// Counts the ends of periods (rules S20 to S23).
    public var calendar: PeriodCalendar
    /// The speed of periods, and of all that is counted from them; only a sandbox has another one.
    public var rate: SubscriptionRate = .realTime
    /// The times before the end of a period at which its renewal is charged, earliest first.
    public var chargesBeforeEnd: [Duration] = [.days(1), .hours(12), .hours(1), .zero]
    /// The time over which the first of these charges is spread, so that subscriptions that end
    /// together are not charged together (rule S510).
    public var spread: Duration = .hours(6)
    /// Whether each subscription has a step of its own, wherever its neighbours are, as in earlier versions.
    private var placesEach = false
    /// The times after the end of an unpaid period at which the store tries to charge again.
    public var chargesAfterEnd: [Duration] = [1, 2, 3, 5, 7, 10, 14, 21, 28, 35, 42, 49, 56, 59]
        .map { .days($0) }
    /// The time from the end of an unpaid period after which the store gives up.
    public var billingRetry: Duration = .days(60)
    /// The grace period from the end of an unpaid period; `nil` if there is none.
    public var grace: Duration?
    /// The longest grace period of a subscription that renews every week.
    public var weeklyGraceMax: Duration = .days(6)
    /// The renewals that have a grace period.
    public var graceScope: GraceScope = .allRenewals
    /// The time for which the end of a period, of grace or of billing retry waits for a charge
    /// whose outcome is not known (rule S505).
    public var outcomeWait: Duration = .seconds(300)
    /// The longest delay of the store after which a renewal still begins where the period before
    /// it ended (rule S520).
    public var honouredDelay: Duration = .days(1)
    /// The longest gap that `Subscription.recentStart` ignores (rule S111).
    public var recentGap: Duration = .days(60)

    /// The decisions about price increases.
    public var prices = PriceIncreaseRules.Policy()

    /// Makes Apple's policy, without a grace period.
    public init(calendar: PeriodCalendar) { self.calendar = calendar }

    /// The grace period after an unpaid period; `nil` if there is none.
    func grace(after period: PaidPeriod) -> Duration? {
        guard let grace, graceScope == .allRenewals || !period.price.isZero else { return nil }
        let terms = period.product.terms.period
        return terms.unit == .week && terms.value == 1 ? min(grace, weeklyGraceMax) : grace
    }

    /// The delay of a subscription's first renewal charge, always the same (rule S510).
    ///
    /// It is a whole number of seconds and of 24ths of the spread: of a quarter of an hour. So subscriptions
    /// that end together are charged in at most 24 steps. An advance of the clock stops at each of them until
    /// the last charge is settled, and meanwhile most of the machine has nothing to do.
    ///
    /// Subscriptions that began in the same second have neighbouring steps. Their rows are beside each other in
    /// the tables of all services. So a page of them is read, changed and written in a short time, and yet each
    /// step changes one or two of its rows, whose new versions find room in it.
    func delay(of id: TransactionID) -> Duration {
        guard spread.milliseconds > 0 else { return .zero }
        let part = step.milliseconds
        guard !placesEach else {
            let delay = Int64((Self.hash(id.number) >> 16) % UInt64(spread.milliseconds))
            return .milliseconds(delay / part * part)
        }
        let count = (spread.milliseconds + part - 1) / part
        let first = Int64((Self.hash(id.number / Self.numbersPerSecond) >> 16) % UInt64(count))
        return .milliseconds((first + id.number % Self.neighbours) % count * part)
    }

    /// The length of a step in which first charges are made together.
    var step: Duration {
        .seconds((spread.milliseconds + Self.steps * 1000 - 1) / (Self.steps * 1000))
    }

    /// The policy by which an earlier version of the store gave each subscription a step of its own.
    var placingEach: SubscriptionPolicy {
        var policy = self
        policy.placesEach = true
        return policy
    }

    /// Spreads numbers that are drawn in order.
    private static func hash(_ number: Int64) -> UInt64 {
        UInt64(bitPattern: number) &* 0x9E37_79B9_7F4A_7C15
    }

    /// The numbers of transactions that a second has: a number ends with a millisecond and four digits.
    private static let numbersPerSecond: Int64 = 10_000_000
    /// The number of steps for the subscriptions of a second: about as many rows have room in a page.
    private static let neighbours: Int64 = 6
    /// The number of steps in which the first charges are spread.
    private static let steps: Int64 = 24
}

extension Duration {
    /// A number of hours.
    package static func hours(_ count: Int64) -> Duration { .seconds(count * 3600) }

    /// A number of days of 24 hours.
    package static func days(_ count: Int64) -> Duration { .seconds(count * 86_400) }
}
