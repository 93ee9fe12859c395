public import EventTypes

extension SubscriptionHistory {
    /// The changes that the log tells, each with the refunds that it causes.
    ///
    /// Events do not list these refunds: they follow from the sums that a change has booked. They are
    /// compared with the refunds that were really made, and if those differ, the changes have the
    /// latter. An audit then finds the difference.
    ///
    /// - Parameters:
    ///   - events: All events of the subscription, oldest first.
    ///   - owed: The refunds that were made because of changes, confirmed or not.
    ///   - all: All refunds of its periods. What was refunded otherwise is not refunded again.
    /// - Returns: The changes, oldest first.
    public static func changes(
        _ events: [SubscriptionChanged],
        owed: [Refund],
        of all: [Refund]
    ) -> [Change] {
        var booked = bookedRefunds(of: events)
        var prices: [TransactionID: Int64] = [:]
        for event in events {
            prices[event.subscription.period.transactionID] =
                event.subscription.period.price.minorUnits
        }
        let ids = Set(owed.map(\.transactionID)).union(booked.joined().map(\.transactionID))
        for id in ids {
            let made = sum(of: owed, id)
            let due = booked.joined().filter { $0.transactionID == id }
                .reduce(Int64(0)) { $0 + $1.amount.minorUnits }
            let isWholeBack = sum(of: all, id) >= prices[id] ?? .max
            if made == due || made < due && isWholeBack { continue }
            correct(&booked, id, owed.filter { $0.transactionID == id })
        }
        return zip(events, booked).map { Change($0, refunds: $1) }
    }

    /// The refunds that each change has booked for periods that it ended early.
    private static func bookedRefunds(
        of events: [SubscriptionChanged]
    ) -> [[SubscriptionPlan.OwedRefund]] {
        var known: [TransactionID: Int64] = [:]
        return events.map { event in
            let changed = event.changedPeriods ?? []
            let refunds = changed.compactMap { period -> SubscriptionPlan.OwedRefund? in
                let sum = period.refunded.minorUnits - known[period.transactionID, default: 0]
                guard sum > 0, event.cause.owesRefund(of: period, at: event.changedAt) else {
                    return nil
                }
                return SubscriptionPlan.OwedRefund(
                    transactionID: period.transactionID,
                    amount: Money(minorUnits: sum, currency: period.price.currency)
                )
            }
            let kept = [event.subscription.earlierPeriod, event.subscription.period]
            for period in changed + kept.compactMap(\.self) {
                known[period.transactionID] = period.refunded.minorUnits
            }
            return refunds
        }
    }

    /// Replaces the booked refunds of a period by those that were made.
    private static func correct(
        _ booked: inout [[SubscriptionPlan.OwedRefund]],
        _ id: TransactionID,
        _ made: [Refund]
    ) {
        let place =
            booked.firstIndex { $0.contains { $0.transactionID == id } } ?? booked.indices.last
        for index in booked.indices { booked[index].removeAll { $0.transactionID == id } }
        guard let place else { return }
        booked[place] += made.map {
            SubscriptionPlan.OwedRefund(transactionID: id, amount: $0.amount)
        }
    }

    private static func sum(of refunds: [Refund], _ id: TransactionID) -> Int64 {
        refunds.filter { $0.transactionID == id && !$0.isReversed }
            .reduce(0) { $0 + $1.amount.minorUnits }
    }
}

extension SubscriptionCause {
    /// Whether a change with this cause refunds the rest of a period that it ended early.
    ///
    /// An upgrade refunds what is unused. A period that was paid early and has not begun is refunded,
    /// unless it was that refund that ended it.
    fileprivate func owesRefund(of period: PaidPeriod, at time: StoreTime) -> Bool {
        switch self {
        case .upgraded: true
        case .refunded, .ended, .productUnavailable: time < period.start
        default: false
        }
    }
}
