public import EventTypes

/// The speed at which a sandbox's subscriptions renew, with the names and lengths of Apple's tests.
///
/// At any rate but the first, periods are plain lengths of time and not counted on a calendar
/// (rule S151).
public enum SubscriptionRate: String, CaseIterable, Sendable {
    /// Periods last as long as in production.
    case realTime
    /// A month lasts an hour, and a week 15 minutes.
    case monthlyRenewalEveryHour
    /// A month lasts 30 minutes, and a week 10 minutes.
    case monthlyRenewalEveryThirtyMinutes
    /// A month lasts 15 minutes, and a week 5 minutes.
    case monthlyRenewalEveryFifteenMinutes
    /// A month lasts 5 minutes, a year an hour, and a week 3 minutes.
    case monthlyRenewalEveryFiveMinutes
    /// A month lasts 3 minutes, and so does a week.
    case monthlyRenewalEveryThreeMinutes
    /// A month lasts 30 seconds, and a week 10 seconds.
    case monthlyRenewalEveryThirtySeconds

    /// The lengths of a week and of a month; `nil` for those of the calendar.
    private var lengths: (week: Duration, month: Duration)? {
        switch self {
        case .realTime: nil
        case .monthlyRenewalEveryHour: (.seconds(900), .seconds(3600))
        case .monthlyRenewalEveryThirtyMinutes: (.seconds(600), .seconds(1800))
        case .monthlyRenewalEveryFifteenMinutes: (.seconds(300), .seconds(900))
        case .monthlyRenewalEveryFiveMinutes: (.seconds(180), .seconds(300))
        case .monthlyRenewalEveryThreeMinutes: (.seconds(180), .seconds(180))
        case .monthlyRenewalEveryThirtySeconds: (.seconds(10), .seconds(30))
        }
    }

    /// The length of a period; `nil` for that of the calendar.
    ///
    /// - Parameter period: The period as it is sold.
    /// - Returns: The length. A year has twelve months.
    public func length(of period: SubscriptionPeriod) -> Duration? {
        guard let lengths else { return nil }
        return switch period.unit {
        case .day: .milliseconds(lengths.week.milliseconds * Int64(period.value) / 7)
        case .week: lengths.week * period.value
        case .month: lengths.month * period.value
        case .year: lengths.month * (12 * period.value)
        }
    }
}

extension SubscriptionPolicy {
    /// The shortest time that is left for the processor, and for a store that starts again.
    private static let patienceMin = Duration.seconds(5)

    /// The decisions for periods of a length, at the rate of the store (rules S150 and S152).
    ///
    /// Times before the end of a period shrink as much as the period does. Billing retry lasts two
    /// months of the rate, whatever the period.
    func scaled(to period: SubscriptionPeriod) -> SubscriptionPolicy {
        guard let length = rate.length(of: period),
            let month = rate.length(of: SubscriptionPeriod(1, .month))
        else { return self }
        func scale(_ duration: Duration, _ short: Duration, _ long: Duration) -> Duration {
            // No duration of a policy is long enough to overflow.
            .milliseconds(duration.milliseconds * short.milliseconds / long.milliseconds)
        }
        func scaled(_ duration: Duration) -> Duration {
            scale(duration, length, period.usualLength)
        }
        let retry = month * 2
        var policy = self
        policy.chargesBeforeEnd = chargesBeforeEnd.map(scaled)
        policy.spread = scaled(spread)
        policy.chargesAfterEnd = chargesAfterEnd.map { scale($0, retry, billingRetry) }
        policy.billingRetry = retry
        policy.grace = grace.map(scaled)
        policy.weeklyGraceMax = scaled(weeklyGraceMax)
        policy.outcomeWait = max(scaled(outcomeWait), Self.patienceMin)
        policy.honouredDelay = max(scaled(honouredDelay), Self.patienceMin)
        policy.recentGap = retry
        policy.prices.notice = scaled(prices.notice)
        policy.prices.weeklyNotice = scaled(prices.weeklyNotice)
        policy.prices.quietTime = scaled(prices.quietTime)
        return policy
    }

    /// The end of a period (rules S20 and S151).
    func end(
        ofPeriod number: Int,
        lasting period: SubscriptionPeriod,
        from anchor: StoreTime
    ) -> StoreTime {
        guard let length = rate.length(of: period) else {
            return calendar.end(ofPeriod: number, lasting: period, from: anchor)
        }
        return anchor.advanced(by: length * number)
    }
}

extension SubscriptionPeriod {
    /// The length that periods of the calendar have on average.
    fileprivate var usualLength: Duration {
        switch unit {
        case .day: .days(Int64(value))
        case .week: .days(Int64(value) * 7)
        case .month: .seconds(Int64(value) * 2_629_800)
        case .year: .seconds(Int64(value) * 31_557_600)
        }
    }
}
