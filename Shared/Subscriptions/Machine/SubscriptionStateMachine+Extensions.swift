import EventTypes

/// Extensions of periods, for which nobody pays.
extension SubscriptionStateMachine {
    /// Moves the end of the newest period (row e40).
    ///
    /// The period that follows begins at the new end and is counted from it (rule S25). A charge for
    /// it that is under way stays. If it succeeds, it pays the period from the new end. If the next
    /// period is paid already, that one is extended (rule S214).
    func extended(
        by request: RequestedExtension,
        at time: StoreTime,
        _ subscription: Subscription
    ) -> SubscriptionMove {
        let earlier = subscription.extensions ?? []
        if let known = earlier.first(where: { $0.id == request.id }) {
            let isSame = known.days == request.days && known.reasonCode == request.reasonCode
            return isSame ? .unchanged : .refused(.extensionDiffers)
        }
        let running = subscription.runningPeriod(at: time)
        guard subscription.state == .active, !isFree(running), !isFree(subscription.period) else {
            return .refused(.notExtendable)
        }
        let counted = earlier.filter {
            time.duration(since: $0.extendedAt) < RequestedExtension.countedTime
        }
        guard counted.count < RequestedExtension.countMax else {
            return .refused(.tooManyExtensions)
        }
        var after = subscription
        let period = subscription.period
        after.period.extendedFrom = period.extendedFrom ?? period.end
        var made = PeriodExtension(
            id: request.id,
            days: request.days,
            reasonCode: request.reasonCode,
            transactionID: period.transactionID,
            extendedAt: time,
            end: period.end
        )
        made.end = policy.end(of: made, from: period.end)
        after.period.end = made.end
        after.extensions = earlier + [made]
        return changed(after, .extended) { $0.changedPeriods = [after.period] }
    }

    /// Whether a period costs nothing because of an offer (rule S211).
    private func isFree(_ period: PaidPeriod) -> Bool {
        period.offer != nil && period.price.isZero
    }
}

extension SubscriptionPolicy {
    /// The end of a period after an extension.
    ///
    /// Days are counted on the calendar, so the time of day stays. A sandbox with a rate has shorter
    /// days.
    func end(of made: PeriodExtension, from end: StoreTime) -> StoreTime {
        self.end(ofPeriod: 1, lasting: SubscriptionPeriod(made.days, .day), from: end)
    }
}
