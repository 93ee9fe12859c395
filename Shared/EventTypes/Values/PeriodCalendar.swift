public import Foundation

/// Counts the ends of a subscription's periods on the calendar of a time zone.
///
/// Every end is counted from the anchor, never from the previous end. So a monthly subscription
/// that began on January 31 ends on the last day of February and on March 31.
///
/// Pure: it depends only on its arguments and on the rules of the time zone.
public struct PeriodCalendar: Sendable {
    /// The zone whose wall time the periods keep.
    public let timeZone: TimeZone

    /// Makes a calendar.
    public init(timeZone: TimeZone) { self.timeZone = timeZone }

    /// Returns the end of a period, which is the start of the next one.
    ///
    /// A day that the month does not have becomes its last day. A wall time that the zone skips
    /// moves forward by the gap. Of a wall time that occurs twice, the first is taken.
    ///
    /// - Parameters:
    ///   - number: The number of the period, from 1; the end of period 0 is the anchor.
    ///   - period: The length of one period.
    ///   - anchor: The time from which the periods are counted.
    /// - Returns: The end, with the milliseconds of the anchor.
    public func end(
        ofPeriod number: Int,
        lasting period: SubscriptionPeriod,
        from anchor: StoreTime
    ) -> StoreTime {
        precondition(number >= 0, "Periods are counted from 1.")
        guard number > 0 else { return anchor }
        let (second, millisecond) = anchor.millisecondsSinceEpoch.divided(by: 1000)
        let (day, secondOfDay) = (second + offset(at: second)).divided(by: 86_400)
        let count = Int64(number) * Int64(period.value)
        let endDay =
            switch period.unit {
            case .day: day + count
            case .week: day + count * 7
            case .month: CivilDate(day: day).adding(months: count).day
            case .year: CivilDate(day: day).adding(months: count * 12).day
            }
        let end = instant(ofWallTime: endDay * 86_400 + secondOfDay)
        return StoreTime(millisecondsSinceEpoch: end * 1000 + millisecond)
    }

    /// The seconds by which the zone is ahead of UTC.
    private func offset(at second: Int64) -> Int64 {
        Int64(timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second))))
    }

    /// Converts the seconds on the zone's wall clock into seconds of UTC.
    private func instant(ofWallTime wall: Int64) -> Int64 {
        // A day covers every offset, so one of these is before and one after a nearby change.
        let before = wall - offset(at: wall - 86_400)
        if before + offset(at: before) == wall { return before }
        let after = wall - offset(at: wall + 86_400)
        // If neither fits, the zone skips this wall time: the offset before the gap moves it
        // forward by the gap.
        return after + offset(at: after) == wall ? after : before
    }
}

/// A date of the Gregorian calendar.
private struct CivilDate {
    var year: Int64
    /// From 1 to 12.
    var month: Int64
    /// From 1 to 31.
    var dayOfMonth: Int64

    /// The date of a number of days since 1970-01-01.
    ///
    /// Years are counted from March 1, so that the leap day is the last of its year.
    init(day: Int64) {
        let (era, dayOfEra) = (day + 719_468).divided(by: 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// The number of days since 1970-01-01.
    var day: Int64 {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).divided(by: 400)
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + dayOfMonth - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The same day some months later, or that month's last day if it has no such day.
    func adding(months: Int64) -> CivilDate {
        var date = self
        let (years, monthIndex) = (month - 1 + months).divided(by: 12)
        date.year += years
        date.month = monthIndex + 1
        date.dayOfMonth = min(dayOfMonth, date.daysInMonth)
        return date
    }

    private var daysInMonth: Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}

extension Int64 {
    /// Divides and rounds down, so that the remainder is never negative.
    fileprivate func divided(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
