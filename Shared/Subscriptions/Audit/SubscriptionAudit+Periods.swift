import EventTypes

extension SubscriptionAudit {
    /// Checks the dates of the periods.
    func checkPeriods(_ history: SubscriptionHistory, _ findings: inout Findings) {
        let rules = PeriodRules(policy: policy)
        var before: Subscription?
        let periods = history.periods
        for period in periods {
            var previous = period
            previous.number -= 1
            let counted = rules.end(of: period)
            findings.check(
                .endsAreCounted,
                counted == period.extendedFrom ?? period.end
                    && extended(counted, of: period, in: history) == period.end
                    && rules.end(of: previous) == period.start,
                "period \(period.transactionID) from \(period.start) to \(period.end) is not "
                    + "number \(period.number) from \(period.anchor)"
            )
        }
        // A period that was taken back before it began is none.
        let real = periods.filter { $0.effectiveEnd > $0.start || $0.earlyEnd == nil }
        var changes: [TransactionID: (change: SubscriptionHistory.Change, before: Subscription?)] =
            [:]
        for change in history.changes {
            if let period = change.newPeriod {
                changes[period.transactionID] = (change, before)
            }
            before = change.subscription
        }
        for (earlier, later) in zip(real, real.dropFirst()) {
            findings.check(
                .noOverlap,
                earlier.effectiveEnd <= later.start,
                "\(later.transactionID) begins at \(later.start), before \(earlier.transactionID) "
                    + "ends at \(earlier.effectiveEnd)"
            )
            guard earlier.effectiveEnd < later.start else { continue }
            let begun = changes[later.transactionID]
            findings.check(
                .noUnexplainedGap,
                begun.map { explainsGap($0.change, before: $0.before, later) } ?? false,
                "nothing explains the gap between \(earlier.effectiveEnd) and \(later.start)"
            )
        }
    }

    /// The end of a period with all its extensions, which are counted one after another.
    private func extended(
        _ end: StoreTime,
        of period: PaidPeriod,
        in history: SubscriptionHistory
    ) -> StoreTime {
        let own = (history.subscription.extensions ?? []).filter {
            $0.transactionID == period.transactionID
        }
        return own.reduce(end) { policy.end(of: $1, from: $0) }
    }

    /// Checks that no more time was given away than rule S211 allows.
    func checkExtensions(_ history: SubscriptionHistory, _ findings: inout Findings) {
        let extensions = history.subscription.extensions ?? []
        let changes = history.changes.filter { $0.cause == .extended }
        findings.check(
            .extensionsAreLimited,
            extensions.map(\.extendedAt) == changes.map(\.time)
                && Set(extensions.map(\.id)).count == extensions.count,
            "\(extensions.count) extensions are recorded, and \(changes.count) were made"
        )
        for one in extensions {
            let since = extensions.filter {
                $0.extendedAt <= one.extendedAt
                    && one.extendedAt.duration(since: $0.extendedAt)
                        < RequestedExtension.countedTime
            }
            findings.check(
                .extensionsAreLimited,
                since.count <= RequestedExtension.countMax
                    && (1...RequestedExtension.daysMax).contains(one.days),
                "the extension of \(one.extendedAt) by \(one.days) days is number "
                    + "\(since.count) of its year"
            )
        }
    }

    /// Whether a change rightly began a period later than the one before it ended.
    ///
    /// It did if nothing was paid at that time, or if the store was late. Then the period began with
    /// the change itself.
    private func explainsGap(
        _ change: SubscriptionHistory.Change,
        before: Subscription?,
        _ period: PaidPeriod
    ) -> Bool {
        guard change.time == period.start, let before else { return false }
        return before.state != .active || change.cause == .renewedLate || change.cause == .upgraded
    }

    /// Checks charges, refunds and prices.
    func checkMoney(_ history: SubscriptionHistory, _ findings: inout Findings) {
        let periods = history.periods
        for period in periods {
            let captures = history.captures.filter { $0.transactionID == period.transactionID }
            let expected = period.price.isZero ? [] : [period.price]
            findings.check(
                .oneChargeAPeriod,
                captures.filter { !$0.isReturned }.map(\.amount) == expected,
                "\(period.transactionID) costs \(period.price) and has the charges "
                    + "\(captures.map(\.amount))"
            )
            let refunds = history.refunds.filter {
                $0.transactionID == period.transactionID && !$0.isReversed
            }
            let sum = refunds.reduce(Int64(0)) { $0 + $1.amount.minorUnits }
            findings.check(
                .refundsAreRight,
                (0...period.price.minorUnits).contains(sum),
                "\(sum) of \(period.transactionID) were refunded, which cost \(period.price)"
            )
        }
        let keys = periods.compactMap(\.charge)
        findings.check(
            .oneChargeAPeriod,
            Set(keys).count == keys.count,
            "two periods have the charge of one key"
        )
        let known = Set(periods.map(\.transactionID))
        for capture in history.captures where !capture.isReturned {
            findings.check(
                .oneChargeAPeriod,
                capture.transactionID.map(known.contains) ?? false,
                "a charge of \(capture.amount) pays for nothing and was not returned"
            )
        }
        checkProration(history, &findings)
        checkPrices(history, &findings)
    }

    /// Recomputes the refunds that were due.
    private func checkProration(_ history: SubscriptionHistory, _ findings: inout Findings) {
        for change in history.changes {
            for period in change.changedPeriods {
                let owed = change.refunds.filter { $0.transactionID == period.transactionID }
                    .reduce(Int64(0)) { $0 + $1.amount.minorUnits }
                var before = period
                before.refunded = Money(
                    minorUnits: period.refunded.minorUnits - owed,
                    currency: period.price.currency
                )
                // A next period that is taken back is refunded in full, unless it was that refund
                // that took it back.
                let wasTakenBack =
                    change.time < period.start && change.cause != .nextPeriodRefunded
                    && change.cause != .extended
                let expected: Int64 =
                    wasTakenBack
                    ? before.refundable.minorUnits
                    : period.isUpgraded
                        ? Proration.refund(of: before, at: change.time).minorUnits : 0
                findings.check(
                    .refundsAreRight,
                    owed == expected,
                    "\(owed) of \(period.transactionID) are refunded instead of \(expected)",
                    refund: AuditFinding.PeriodRefund(
                        transactionID: period.transactionID,
                        refunded: owed,
                        due: expected
                    )
                )
            }
            let changed = Set(change.changedPeriods.map(\.transactionID))
            for refund in change.refunds {
                findings.check(
                    .refundsAreRight,
                    changed.contains(refund.transactionID) && refund.amount.minorUnits > 0,
                    "a refund of \(refund.amount) is made for nothing"
                )
            }
        }
    }

    /// Checks that no renewal costs more than the customer was informed since the renewal before
    /// it.
    private func checkPrices(_ history: SubscriptionHistory, _ findings: inout Findings) {
        var told: [(id: ProductID, price: Money)] = []
        for change in history.changes {
            if let period = change.newPeriod {
                if period.reason == .renewal {
                    findings.check(
                        .noPriceAboveAnnounced,
                        told.contains {
                            $0.id == period.product.id
                                && ($0.price.currency != period.price.currency
                                    || $0.price.minorUnits >= period.price.minorUnits)
                        },
                        "the customer was never informed of \(period.price) of \(period.transactionID)"
                    )
                }
                told = []
            }
            if let next = change.subscription.nextProduct,
                let price = change.subscription.nextPrice
            {
                told.append((next.id, price))
            }
        }
    }
}
