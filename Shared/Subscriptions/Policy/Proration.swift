public import EventTypes

/// The refund of the unused part of a period (rule S102).
///
/// Pure.
public enum Proration {
    /// The part of a period's price that belongs to the time after a moment, rounded down to the
    /// minor unit, but not more than is left to refund.
    ///
    /// A period that has not begun is refunded in full (rule S107).
    public static func refund(of period: PaidPeriod, at time: StoreTime) -> Money {
        let whole = milliseconds(from: period.start, to: period.end)
        let rest = min(whole, milliseconds(from: time, to: period.end))
        guard whole > 0, period.price.minorUnits > 0 else { return .zero(period.price.currency) }
        // The product needs up to 128 bits. The quotient fits because `rest` is at most `whole`.
        let product = UInt64(period.price.minorUnits).multipliedFullWidth(by: rest)
        let share = Int64(whole.dividingFullWidth(product).quotient)
        return Money(
            minorUnits: min(share, period.refundable.minorUnits),
            currency: period.price.currency
        )
    }

    private static func milliseconds(from start: StoreTime, to end: StoreTime) -> UInt64 {
        UInt64(max(0, end.duration(since: start).milliseconds))
    }
}
