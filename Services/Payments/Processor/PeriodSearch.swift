import EventTypes
import StoreAPI

/// A question about what was done for a period by attempts that the books may have lost.
///
/// The lost attempts are those of the same period whose tries have the same number or a higher one: the
/// books have all tries with lower numbers.
struct PeriodSearch: Hashable, Sendable {
    /// The attempt that is about to charge.
    let attemptID: AttemptID
    /// Its transaction.
    let transactionID: TransactionID
    let paymentMethod: PaymentMethod
    /// The time before which nothing was lost.
    let since: MachineTime
    /// Attempts that the books have found before.
    var known: Set<AttemptID> = []

    /// Whether an attempt is one of those that are looked for.
    func matches(_ id: AttemptID) -> Bool { attemptID.reaches(id) && !known.contains(id) }
}

/// The answer to a search.
enum PeriodFinding: Hashable, Sendable {
    /// The attempt has charged, or has begun to; what was given back of it comes with it, oldest first.
    case found(AttemptID, refunds: [LostRefund] = [])
    /// No attempt has charged, or has begun to.
    case nothing
    /// An attempt has charged, or has begun to, where the card of this one is not: nothing may be charged,
    /// and no inquiry would find it.
    case strayed
    /// The processor could not take the call; a later call may succeed.
    case unavailable
}

/// A refund that the books have lost with its charge.
struct LostRefund: Hashable, Sendable {
    /// The store's id of it; `nil` if somebody made it at the processor itself.
    let id: AttemptID?
    /// The generation of the key under which it was made.
    var generation = 1
    /// The processor's own id of it.
    let reference: ProcessorReference
    /// The processor's own id of the charge.
    let charge: ProcessorReference
    let amount: Money
}
