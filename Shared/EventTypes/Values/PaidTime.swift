/// A time that an account has paid for, in the lengths that it bought.
///
/// A month counts as a month whatever its number of days, and at whatever rate a sandbox renews.
public struct PaidTime: Codable, Hashable, Sendable {
    /// The length of a month, in hundredths of a day (rule S59 of docs/subscriptions.md).
    private static let month = 3044

    /// The whole months, of which a year has twelve.
    public var months: Int
    /// The days beside them.
    public var days: Int

    /// Makes a time.
    public init(months: Int = 0, days: Int = 0) {
        self.months = months
        self.days = days
    }

    /// The time of a period as it is sold.
    public init(_ period: SubscriptionPeriod) {
        switch period.unit {
        case .day: self.init(days: period.value)
        case .week: self.init(days: 7 * period.value)
        case .month: self.init(months: period.value)
        case .year: self.init(months: 12 * period.value)
        }
    }

    /// The time in hundredths of a day.
    public var hundredthsOfDays: Int { months * Self.month + days * 100 }

    /// The months with those that the days make, rounded down.
    public var wholeMonths: Int { hundredthsOfDays / Self.month }

    /// The sum of two times.
    public static func + (left: PaidTime, right: PaidTime) -> PaidTime {
        PaidTime(months: left.months + right.months, days: left.days + right.days)
    }
}

// Subscriptions are encoded and decoded without Foundation's coders, with the same bytes.

extension PaidTime {
    func write(to text: inout PlainJSONText) {
        text.member("days", Int64(days))
        text.member("months", Int64(months))
    }

    init?(from json: inout PlainJSON) {
        var (months, days) = (Int64?.none, Int64?.none)
        let isRead = json.object { json, name in
            switch name {
            case "months": PlainJSON.keep(json.integer(), in: &months)
            case "days": PlainJSON.keep(json.integer(), in: &days)
            default: json.skip()
            }
        }
        guard isRead, let months, let days else { return nil }
        self.init(months: Int(months), days: Int(days))
    }
}
