import EventTypes

/// The charges for what a subscription owes that somebody may ask for on a day of the store.
///
/// Pure. Each takes a key of its day, which its transaction has. So the books count them, and a day
/// without a free key has no further one. Otherwise a buyer could try any number of cards.
struct AskedTries: Sendable {
    /// The most charges that somebody may ask for on a day.
    static let dailyMax = 5

    private static let day: Int64 = 86_400_000

    /// The keys of the day.
    ///
    /// No request of an account has such a key: those contain no space.
    let keys: [IdempotencyKey]
    /// The time until the next day.
    let rest: Duration

    /// Makes the tries of a subscription on the day of a time.
    init(of id: TransactionID, at time: StoreTime) {
        let day = time.millisecondsSinceEpoch / Self.day
        keys = (1...Self.dailyMax).map {
            IdempotencyKey(unchecked: "try of \(id) on \(day) \($0)")
        }
        rest = .milliseconds((day + 1) * Self.day - time.millisecondsSinceEpoch)
    }
}
