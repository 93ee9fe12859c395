import EventTypes

extension SubscriptionAudit {
    /// Checks that the account had at most one introductory offer of its own, and every offer period
    /// after period (rules S43, S44, S48 and S52).
    func checkOffers(_ history: SubscriptionHistory, _ findings: inout Findings) {
        // A period that was taken back before it began is none.
        let periods = history.periods.filter { $0.effectiveEnd > $0.start || $0.earlyEnd == nil }
        let redeemed = history.changes.compactMap(\.subscription.pendingOffer)
        var before: PeriodOffer?
        for period in periods {
            defer { before = period.offer }
            guard let offer = period.offer else { continue }
            findings.check(
                .offersAreUsedOnce,
                offer.price == period.price,
                "\(period.transactionID) costs \(period.price), and by its offer \(offer.price)"
            )
            let follows =
                offer.number == 1
                ? period.reason == .purchase || redeemed.contains { $0.isSame(as: offer) }
                : before?.next.map { $0.isSame(as: offer) } ?? false
            findings.check(
                .offersAreUsedOnce,
                follows,
                "\(period.transactionID) has period \(offer.number) of an offer, which does not "
                    + "follow the period before it"
            )
        }
        // Those that the merchant's server has given once more are not counted (rule S48).
        let begun = periods.compactMap { period -> TransactionID? in
            guard let offer = period.offer, offer.type == .introductory, offer.number == 1,
                offer.introductory != .again
            else { return nil }
            return period.transactionID
        }
        findings.check(
            .offersAreUsedOnce,
            begun.count <= 1,
            "its introductory offers began with \(begun)"
        )
        // It was begun also if it was refunded at the same moment.
        let wonBack = history.periods.last { $0.offer?.type == .winBack && $0.offer?.number == 1 }
        if let wonBack {
            let noted = history.subscription.wonBackAt
            findings.check(
                .offersAreUsedOnce,
                noted == wonBack.start,
                "its last win-back offer began with \(wonBack.transactionID) at \(wonBack.start), and "
                    + "the subscription says \(noted.map { "\($0)" } ?? "never")"
            )
        }
        guard let introductions = history.introductions else { return }
        let noted = [history.introducedBy].compactMap(\.self)
        findings.check(
            .offersAreUsedOnce,
            introductions == noted,
            "the transactions \(introductions) have its introductory offer, and the store has noted "
                + "\(noted)"
        )
    }
}

extension PeriodOffer {
    /// Whether two periods are the same of one offer.
    ///
    /// A lower ordinary price may have lowered the price, unless that was paid up front.
    fileprivate func isSame(as other: PeriodOffer) -> Bool {
        if mode == .payUpFront { return self == other }
        var same = self
        same.price = other.price
        return same == other && other.price.minorUnits <= price.minorUnits
    }
}
