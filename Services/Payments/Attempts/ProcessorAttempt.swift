import EventTypes

/// Where an attempt stands.
///
/// The raw values stand in the table.
enum AttemptStep: String, Hashable, Sendable {
    /// Somebody calls the processor, or has to when the attempt falls due.
    case calling
    /// The same product is being bought by another transaction; its outcome decides.
    case waiting
    /// Somebody has to approve; when it falls due, the approval has expired.
    case awaitingApproval = "awaiting_approval"
    /// Done.
    case settled
}

/// A charge or refund that is owed: committed before the processor is called, so that no crash can
/// lose it.
///
/// `dueAt` is the moment from which anybody may take it: the end of a lease, the time of the next
/// try, or the end of the wait for an approval. `nil` means that nobody has to do anything.
struct ProcessorAttempt: Hashable, Sendable {
    var transactionID: TransactionID
    var kind: AttemptKind
    var id: AttemptID
    var step: AttemptStep
    var paymentMethod: String
    var amount: Money
    var isApproved = false
    /// How often the processor was called without an outcome.
    var callCount = 0
    /// Of a refund: the charge it gives back.
    var chargeReference: String?
    /// The processor's own name for what it did.
    var reference: String?
    /// Why it is settled: `charged`, `refunded`, `granted`, or the reason of the failure.
    var outcome: String?
    var dueAt: Timestamp?
    /// The transaction whose outcome it waits for.
    var waitsFor: TransactionID?

    var key: AttemptKey { AttemptKey(transactionID: transactionID, kind: kind) }
}

extension ProcessorAttempt {
    /// Ends the attempt: nobody has to act on it again.
    mutating func settle(_ outcome: String, reference: String? = nil) {
        step = .settled
        self.outcome = outcome
        self.reference = reference ?? self.reference
        dueAt = nil
        waitsFor = nil
    }

    /// Has the attempt wait for the outcome of another transaction.
    mutating func wait(for holder: TransactionID) {
        step = .waiting
        waitsFor = holder
        dueAt = nil
    }
}
