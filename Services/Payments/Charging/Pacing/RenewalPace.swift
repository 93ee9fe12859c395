/// The number of renewals that are begun and charged at once, and the rest of the store after them.
///
/// Nobody waits for a renewal: it is charged a day before its period begins. So buyers come first.
/// While somebody buys, renewals are begun in small batches, each only once the last one is charged,
/// and most of the time belongs to the buyers. While nobody buys, renewals take the whole machine,
/// and the next batch is read while the last ones are charged. If a buyer comes then, the charges that
/// have been begun wait in memory and are carried out in small batches, too. The first batch is small, so
/// that the charges begin early: otherwise one processor would wait for the other where few are due at once.
///
/// Pure.
enum RenewalPace: Hashable {
    case alone
    case besideBuyers

    /// The most actions, or outcomes of charges, in one database transaction.
    var batchSizeMax: Int {
        switch self {
        case .alone: 512
        case .besideBuyers: 64
        }
    }

    /// The most actions in the next database transaction, after so many that were due as well.
    func batchSize(after count: Int) -> Int {
        min(max(Self.firstBatchSize, count * 2), batchSizeMax)
    }

    private static let firstBatchSize = 128

    /// The number of charges that may be under way when the next batch begins, exclusive.
    ///
    /// It bounds the memory, whatever the number of renewals that are due at once.
    var openMax: Int {
        switch self {
        case .alone: 1024
        case .besideBuyers: 1
        }
    }

    /// The rest after a batch that took some time from its beginning to its charges.
    func rest(after work: Duration) -> Duration {
        switch self {
        case .alone: .zero
        case .besideBuyers: min(work * 2, Self.restMax)
        }
    }

    /// The longest rest, so that an unreachable processor does not stretch it.
    private static let restMax = Duration.seconds(1)
}
