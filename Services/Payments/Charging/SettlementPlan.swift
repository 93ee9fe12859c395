import EventTypes
import Ledger
import StoreAPI
import Subscriptions

/// Everything that a settlement of outcomes and commands will write.
///
/// Pure. ``Settlement`` hands in the locked rows, the time and a source of ids, and writes the
/// decisions.
struct SettlementPlan: Sendable {
    /// A disagreement between the processor and the books.
    struct Contradiction: Hashable, Sendable {
        let message: String
        let transactionID: TransactionID
        var refusal: TransactionRefusal?
        var trace: String?
    }

    let time: StoreTime
    /// The time from which leases and pauses are counted.
    let machineTime: MachineTime
    let policy: AttemptPolicy
    let ids: IDSource

    /// The locked transactions and attempts, with the changes so far.
    private(set) var records: [TransactionID: TransactionRecord] = [:]
    private(set) var attempts: [AttemptKey: ProcessorAttempt] = [:]
    private var changedRecordIDs: Set<TransactionID> = []
    private var changedAttemptKeys: Set<AttemptKey> = []
    private(set) var newAttempts: [ProcessorAttempt] = []
    private(set) var postings: [Posting] = []
    private(set) var events: [TransactionEvent] = []
    private(set) var contradictions: [Contradiction] = []
    private(set) var report = OutcomeReport()
    private var ownershipChanges: [OwnershipChange] = []
    /// The failed transactions whose codes are given back.
    var failedRedemptions: [TransactionID] = []
    /// The payment methods that banks have refused for good.
    var refusedMethods: Set<PaymentMethod> = []
    /// The locked subscriptions of the transactions.
    var subscriptions: SubscriptionBooks

    /// Begins a plan.
    init(
        time: StoreTime,
        machineTime: MachineTime,
        policy: AttemptPolicy,
        ids: IDSource,
        subscriptions: SubscriptionStateMachine
    ) {
        self.time = time
        self.machineTime = machineTime
        self.policy = policy
        self.ids = ids
        self.subscriptions = SubscriptionBooks(subscriptions, at: time)
    }

    /// The transactions to write, in the order of their ids.
    var changedRecords: [TransactionRecord] { changedRecordIDs.sorted().compactMap { records[$0] } }

    /// The attempts to write, in the order of their keys.
    var changedAttempts: [ProcessorAttempt] {
        changedAttemptKeys.sorted().compactMap { attempts[$0] }
    }

    /// Adds locked transactions with all their attempts.
    mutating func take(
        _ records: [TransactionID: TransactionRecord],
        _ attempts: [AttemptKey: ProcessorAttempt]
    ) {
        // Nearly always there is nothing yet, and nothing is copied.
        if self.records.isEmpty, self.attempts.isEmpty {
            (self.records, self.attempts) = (records, attempts)
        } else {
            self.records.merge(records) { _, new in new }
            self.attempts.merge(attempts) { _, new in new }
        }
    }

    /// Applies a command to a transaction and plans everything that follows from it.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - id: The transaction.
    ///   - act: The act of the administrator who gave it, if one did.
    /// - Returns: The effect.
    @discardableResult
    mutating func apply(
        _ command: TransactionCommand,
        to id: TransactionID,
        by act: Act? = nil
    ) -> TransactionMove {
        guard let record = records[id] else { return .refused(.stateUnknown) }
        let machine = TransactionStateMachine(time: time, postingID: ids.posting(at: time))
        let move = machine.apply(command, to: record)
        guard case .moved(let moved, let type, let posting) = move else { return move }
        records[id] = moved
        changedRecordIDs.insert(id)
        let kind = OutcomeReport.Move(type: type, reason: moved.transaction.failureReason)
        report.moves[kind, default: 0] += 1
        if let posting { postings.append(posting) }
        let reference = posting.map { PostingReference($0, of: moved) }
        tell(type, of: moved, reference, by: act)
        if let reference { subscriptions.note(reference, of: id) }
        tellSubscription(command, from: record, to: moved, by: act)
        if let change = OwnershipRules.change(from: record, to: moved, at: time) {
            ownershipChanges.append(change)
        }
        return move
    }

    // MARK: - Ownerships

    /// Removes and returns the first planned change of each ownership, as one statement can make
    /// only one change of each.
    ///
    /// Decisions about waiting purchases may add further changes. An empty result means that none
    /// are left.
    mutating func nextOwnershipChanges() -> [OwnershipChange] {
        var keys: Set<OwnershipKey> = []
        let next = ownershipChanges.filter { keys.insert($0.key).inserted }
        keys = []
        ownershipChanges.removeAll { keys.insert($0.key).inserted }
        return next
    }

    /// Decides about the purchases that waited for transactions whose ownerships have changed.
    ///
    /// A purchase is not charged if its account may no longer pay, or has moved to another
    /// storefront since the payment was accepted (spec rules 2 and 9).
    ///
    /// The price and the availability of the product are not checked again. The buyer has seen the
    /// price and the store has confirmed it, so changes of the catalog apply only to later payments
    /// (spec rule X8, traps 25 and 26). The same holds for a slow charge and for a late approval.
    /// An interrupted payment is different (``PaymentRules/request(repeating:by:)``): it has
    /// failed, and resuming it is a new payment.
    ///
    /// - Parameters:
    ///   - changes: The changes, already written.
    ///   - waiting: The locked purchases that wait for the holders of these ownerships, oldest
    ///     first.
    ///   - ownerships: The ownerships after the changes, locked.
    ///   - standings: The standings of the accounts.
    /// - Returns: The ownerships to claim, each with its purchase.
    mutating func passOn(
        _ changes: [OwnershipChange],
        to waiting: [TransactionID: [TransactionID]],
        ownerships: [OwnershipKey: Ownership],
        standings: [AccountKey: AccountStanding]
    ) -> [(key: OwnershipKey, transactionID: TransactionID)] {
        var claims: [(key: OwnershipKey, transactionID: TransactionID)] = []
        for change in changes {
            let standing = standings[change.key.accountKey] ?? AccountStanding()
            let waiters = (waiting[change.holder] ?? []).compactMap { id in
                records[id].map {
                    OwnershipRules.Waiter(
                        id: id,
                        failure: AccountRules.failure(of: standing, in: $0.transaction.storefront)
                    )
                }
            }
            let verdicts = OwnershipRules.verdicts(on: waiters, meeting: ownerships[change.key])
            for (waiter, verdict) in zip(waiters, verdicts) {
                if verdict == .proceed { claims.append((change.key, waiter.id)) }
                follow(verdict, waiter.id)
            }
        }
        return claims
    }

    /// Applies the verdict of the ownership rules to a purchase.
    private mutating func follow(_ verdict: OwnershipRules.Verdict, _ id: TransactionID) {
        let key = AttemptKey(transactionID: id, kind: .charge)
        switch verdict {
        case .proceed: call(key)
        case .wait(let holder): change(key) { $0.wait(for: holder) }
        case .fail(let reason):
            apply(.fail(reason), to: id)
            change(key) { $0.settle(.failed(reason)) }
        case .grant(let originalID, let originalPurchasedAt):
            apply(
                .grantOwned(originalID: originalID, originalPurchasedAt: originalPurchasedAt),
                to: id
            )
            change(key) { $0.settle(.granted) }
        }
    }

    // MARK: - Approvals

    /// Plans an approval.
    ///
    /// The transaction is charged, unless the account has bought the product or moved to another
    /// storefront in the meantime, or subscribed otherwise. No buyer is charged in the currency of an
    /// earlier storefront.
    ///
    /// - Parameters:
    ///   - id: The transaction.
    ///   - failure: The reason why its account may no longer be charged; `nil` if it may be.
    ///   - ownership: The ownership of its product, after the claim; `nil` if the product cannot be
    ///     owned.
    ///   - act: The act of the approver.
    mutating func approve(
        _ id: TransactionID,
        failure: FailureReason?,
        meeting ownership: Ownership?,
        by act: Act?
    ) {
        annotate(id) { record in
            record.approval = .approve
            record.approvalAct = act
        }
        change(AttemptKey(transactionID: id, kind: .charge)) { $0.isApproved = true }
        if let record = records[id] { tell(.transactionApproved, of: record, by: act) }
        let changed = records[id].flatMap { subscriptions.failure(ofWaiting: $0.transaction) }
        if let failure = failure ?? changed {
            follow(.fail(failure), id)
        } else {
            follow(OwnershipRules.verdict(on: id, meeting: ownership), id)
        }
    }

    /// Plans the refusal of an approval.
    mutating func decline(_ id: TransactionID, by act: Act?) {
        annotate(id) { record in
            record.approval = .decline
            record.approvalAct = act
        }
        apply(.declineApproval, to: id, by: act)
        change(AttemptKey(transactionID: id, kind: .charge)) {
            $0.settle(.failed(FailureReason.approvalDeclined))
        }
    }

    /// Changes a transaction's internal fields without a new version of the published transaction.
    private mutating func annotate(
        _ id: TransactionID,
        _ change: (inout TransactionRecord) -> Void
    ) {
        guard var record = records[id] else { return }
        change(&record)
        records[id] = record
        changedRecordIDs.insert(id)
    }

    // MARK: - Attempts, events and postings

    /// Changes an attempt.
    mutating func change(_ key: AttemptKey, _ change: (inout ProcessorAttempt) -> Void) {
        guard let place = attempts.index(forKey: key) else { return }
        change(&attempts.values[place])
        changedAttemptKeys.insert(key)
    }

    /// The end of the leases that this process takes.
    private var leaseEnd: MachineTime { machineTime.advanced(by: policy.lease) }

    /// Makes an attempt ready for this process to carry out.
    mutating func call(_ key: AttemptKey) {
        let (time, leaseEnd) = (machineTime, leaseEnd)
        change(key) { attempt in
            attempt.step = .calling
            attempt.waitsFor = nil
            attempt.approvalEndsAt = nil
            attempt.actionEndsAt = nil
            attempt.callableSince = time
            attempt.firstCalledAt = attempt.firstCalledAt ?? time
            attempt.isUncalled = false
            attempt.dueAt = leaseEnd
        }
        if let attempt = attempts[key] { report.followUps.append(attempt) }
    }

    /// Adds an attempt for this process to carry out.
    private mutating func add(_ attempt: ProcessorAttempt) {
        attempts[attempt.key] = attempt
        newAttempts.append(attempt)
        report.followUps.append(attempt)
    }

    /// Adds an attempt that nobody has to carry out.
    mutating func addSettled(_ attempt: ProcessorAttempt) {
        attempts[attempt.key] = attempt
        newAttempts.append(attempt)
    }

    /// Adds a refund of a charge for this process to carry out.
    @discardableResult
    mutating func refund(
        _ id: TransactionID,
        _ terms: RefundPlan,
        by paymentMethod: PaymentMethod,
        of chargeReference: ProcessorReference?,
        isOwed: Bool = false
    ) -> ProcessorAttempt {
        let attempt = ProcessorAttempt(
            transactionID: id,
            kind: .refund,
            number: terms.number,
            id: ids.attempt(at: time),
            step: .calling,
            paymentMethod: paymentMethod,
            amount: terms.amount,
            undoes: chargeReference,
            revokes: terms.revokes,
            requestKey: terms.key,
            isOwed: isOwed,
            act: terms.act,
            dueAt: leaseEnd
        )
        add(attempt)
        return attempt
    }

    /// Adds a reversal of a refund for this process to carry out.
    mutating func reverse(_ refund: ProcessorAttempt, by act: Act?) -> ProcessorAttempt {
        let attempt = ProcessorAttempt(
            transactionID: refund.transactionID,
            kind: .reversal,
            number: refund.number,
            id: ids.attempt(at: time),
            step: .calling,
            paymentMethod: refund.paymentMethod,
            amount: refund.amount,
            undoes: refund.reference,
            act: act,
            dueAt: leaseEnd
        )
        add(attempt)
        return attempt
    }

    /// Notes the time at which an attempt is tried again.
    ///
    /// What is due after the length of a lease is found in time without a signal.
    mutating func expect(_ due: MachineTime) {
        guard due < leaseEnd else { return }
        report.nextDue = min(report.nextDue ?? due, due)
    }

    /// Adds a posting of money that moved without changing the transaction.
    mutating func post(
        _ posting: Posting?,
        of record: TransactionRecord,
        gross: Money,
        as type: EventType
    ) {
        guard let posting else { return }
        postings.append(posting)
        var reference = PostingReference(posting, of: record)
        // The price of a transaction that was not charged says nothing about a stray charge.
        reference.gross = gross
        tell(type, of: record, reference)
    }

    /// Records a disagreement between the processor and the books.
    mutating func contradict(
        _ message: String,
        _ id: TransactionID,
        _ refusal: TransactionRefusal? = nil
    ) {
        contradictions.append(
            Contradiction(
                message: message,
                transactionID: id,
                refusal: refusal,
                trace: records[id]?.trace
            )
        )
    }

    /// Adds an event of a transaction.
    private mutating func tell(
        _ type: EventType,
        of record: TransactionRecord,
        _ posting: PostingReference? = nil,
        by act: Act? = nil
    ) {
        events.append(
            TransactionEvent(
                transaction: record.transaction,
                type: type,
                posting: posting,
                act: act,
                traceparent: record.traceparent
            )
        )
    }
}
