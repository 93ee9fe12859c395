import EventTypes

/// The rules for when a merchant's report on a purchase counts.
///
/// Pure. A late report is kept and shown as late, so that who decides can judge. Only a late report
/// never replaces one that came in time.
enum ConsumptionRules {
    /// The time that a merchant has after a buyer's request for a refund, by the store's clock.
    static let timeToAnswer = Duration.seconds(12 * 3600)

    /// Whether a report came too late for a request; `false` if there was no request.
    static func isLate(_ time: StoreTime, ofRequestAt request: StoreTime?) -> Bool {
        request.map { time.duration(since: $0) > timeToAnswer } ?? false
    }

    /// Whether a new report replaces the one that is known.
    static func replaces(
        _ known: StoreTime?,
        by time: StoreTime,
        ofRequestAt request: StoreTime?
    ) -> Bool {
        guard let known, let request, known >= request else { return true }
        return !isLate(time, ofRequestAt: request) || isLate(known, ofRequestAt: request)
    }
}
