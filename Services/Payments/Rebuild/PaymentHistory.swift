import EventTypes
import Ledger
import Messaging
import Rebuild
import StoreAPI

/// The changes that a batch of the log of `payments` makes to its tables.
///
/// For each event it finds the command that led to it, and applies that command with the state
/// machine.
///
/// Pure. If the state machine's result differs from the event, the log contradicts itself.
struct PaymentHistory {
    /// A change of an account, in the order of the log.
    enum AccountStep {
        /// A payment paid a purchase intent.
        case paid(PurchaseIntentID, by: TransactionID, at: StoreTime)
        /// The account changed to this new state.
        case changed(Account, at: StoreTime, OutboxRow)
    }

    private(set) var records: [TransactionID: TransactionRecord]
    private(set) var inserted: [TransactionID] = []
    private(set) var changed: Set<TransactionID> = []
    /// Transactions whose tax rate became known after their row was written.
    private(set) var taxed: Set<TransactionID> = []
    private(set) var newAttempts: [AttemptKey: ProcessorAttempt] = [:]
    /// Charges that had been settled otherwise before the stray charge.
    private(set) var strayCharges: [ProcessorAttempt] = []
    /// Changes of ownerships, in the order of the log.
    private(set) var ownershipChanges: [OwnershipKey: [OwnershipChange]] = [:]
    private(set) var postings: [Posting] = []
    private(set) var resumptions: [(id: TransactionID, after: TransactionID, at: StoreTime)] = []
    private(set) var accountSteps: [AccountStep] = []
    /// The transactions with which introductory offers begin, or that give them back, in the order of
    /// the log.
    private(set) var introductions: [(transaction: Transaction, isGivenBack: Bool)] = []
    private(set) var contradictions: [LogContradiction] = []
    private let known: Set<TransactionID>

    /// Begins a batch.
    ///
    /// - Parameter records: The transactions that the batch is about, as far as they are known.
    init(records: [TransactionID: TransactionRecord]) {
        self.records = records
        known = Set(records.keys)
    }

    /// The transactions that events are about; the first event of a transaction is left out, as
    /// nothing came before it.
    static func subjects(of rows: [OutboxRow]) -> [TransactionID] {
        let firsts: Set<EventType> = [
            .transactionPurchasing, .transactionRestored, .accountChanged,
        ]
        return Array(
            Set(
                rows.filter { !firsts.contains($0.event.type) }.map {
                    TransactionID(unchecked: $0.event.subject)
                }
            )
        )
    }

    /// Applies an event.
    ///
    /// - Throws: `DecodingError`.
    mutating func apply(_ row: OutboxRow) throws {
        if row.event.type == .accountChanged {
            let account = try EventCoding.decode(AccountChanged.self, from: row.event.data).account
            return accountSteps.append(.changed(account, at: row.event.time, row))
        }
        let event = try EventCoding.decode(TransactionChanged.self, from: row.event.data)
        switch row.event.type {
        case .transactionPurchasing, .transactionRestored: begin(event, row)
        case .transactionPurchased where event.transaction.reason == .familyShared:
            begin(event, row)
        case .transactionApproved: approve(event, row)
        case .strayCharged, .strayChargeReturned: applyStray(event, row)
        default: move(event, row)
        }
    }

    // MARK: - Transactions

    private mutating func begin(_ event: TransactionChanged, _ row: OutboxRow) {
        let id = event.transaction.id
        guard records[id] == nil else {
            return contradict(row, "the transaction has begun before")
        }
        guard event.transaction.version == 1 else {
            return contradict(row, "a transaction begins with version 1")
        }
        records[id] = TransactionRecord(
            transaction: event.transaction,
            taxBasisPoints: 0,
            traceparent: row.event.traceparent
        )
        inserted.append(id)
        if event.transaction.subscription?.beginsIntroductoryOffer == true {
            introductions.append((event.transaction, false))
        }
        if let intent = event.purchaseIntentID {
            accountSteps.append(.paid(intent, by: id, at: row.event.time))
        }
        if let failed = event.resumes {
            resumptions.append((id, failed, row.event.time))
        }
    }

    private mutating func move(_ event: TransactionChanged, _ row: OutboxRow) {
        let id = event.transaction.id
        guard var before = records[id] else {
            return contradict(row, "the log has no event of its beginning")
        }
        guard let command = Self.command(of: event.transaction, row.event.type, after: before)
        else {
            return contradict(row, "no command leads to it")
        }
        if let posting = event.posting, before.taxBasisPoints != posting.taxBasisPoints {
            before.taxBasisPoints = posting.taxBasisPoints
            if known.contains(id) { taxed.insert(id) }
        }
        let machine = TransactionStateMachine(
            time: row.event.time,
            postingID: PostingID(bytes: (event.posting?.id ?? row.event.id).bytes)
        )
        var after = before
        if case .moved(let moved, let type, let posting) = machine.apply(command, to: before),
            moved.transaction == event.transaction, type == row.event.type,
            posting.map({ PostingReference($0, of: moved) }) == event.posting
        {
            after = moved
            if let posting { postings.append(posting) }
        } else {
            contradict(row, "the rules do not make it of version \(before.transaction.version)")
            after.transaction = event.transaction
        }
        if event.transaction.failureReason == .approvalDeclined {
            after.approval = .decline
            after.approvalAct = event.act
        }
        records[id] = after
        changed.insert(id)
        if row.event.type == .transactionFailed,
            after.transaction.subscription?.beginsIntroductoryOffer == true
        {
            introductions.append((after.transaction, true))
        }
        settle(before, after, row, by: event.act)
    }

    /// The command that led to an event.
    private static func command(
        of transaction: Transaction,
        _ type: EventType,
        after before: TransactionRecord
    ) -> TransactionCommand? {
        switch type {
        case .transactionDeferred: .awaitApproval
        case .transactionWaitChanged: .awaitBuyer(transaction.awaitsBuyer ?? false)
        case .transactionRefunded:
            newRefund(in: transaction, since: before).map { command(of: $0) }
        case .transactionRefundReversed:
            reversedRefund(in: transaction, since: before).map {
                .reverseRefund(number: $0.number)
            }
        case .transactionExtended: transaction.subscription.flatMap { command(of: $0) }
        case .transactionFailed: transaction.failureReason.map { .fail($0) }
        case .transactionPurchased
        where transaction.subscription?.start != nil && !transaction.reason.isCopy:
            begunPeriod(of: transaction).map { .beginPeriod($0) }
        case .transactionPurchased where !transaction.price.isZero: .confirmCharge
        case .transactionPurchased where !transaction.reason.isCopy: .grantFree
        case .transactionPurchased:
            transaction.originalPurchasedAt.map {
                .grantOwned(originalID: transaction.originalID, originalPurchasedAt: $0)
            }
        default: nil
        }
    }

    /// The command that led to a refund.
    private static func command(of refund: Refund) -> TransactionCommand {
        guard let dispute = refund.dispute else {
            return .refund(number: refund.number, amount: refund.amount, revokes: refund.revokes)
        }
        return .chargeBack(number: refund.number, amount: refund.amount, dispute: dispute)
    }

    /// The command that moved the end of a period, or the standing of a shared one.
    private static func command(of period: TransactionPeriod) -> TransactionCommand? {
        guard let end = period.end else { return nil }
        guard let shared = period.shared else { return .extendPeriod(until: end) }
        return .follow(shared, until: end)
    }

    /// The period of a subscription that began with an event.
    private static func begunPeriod(of transaction: Transaction) -> BegunPeriod? {
        guard let startedAt = transaction.originalPurchasedAt,
            let start = transaction.subscription?.start, let end = transaction.subscription?.end
        else { return nil }
        return BegunPeriod(
            subscriptionID: transaction.originalID,
            startedAt: startedAt,
            start: start,
            end: end
        )
    }

    /// The refund that an event adds.
    private static func newRefund(
        in transaction: Transaction,
        since before: TransactionRecord
    ) -> Refund? {
        let known = Set((before.transaction.refunds ?? []).map(\.number))
        return transaction.refunds?.first { !known.contains($0.number) }
    }

    /// The refund that an event reverses.
    private static func reversedRefund(
        in transaction: Transaction,
        since before: TransactionRecord
    ) -> Refund? {
        let reversed = (before.transaction.refunds ?? []).filter { $0.reversedAt != nil }
        let known = Set(reversed.map(\.number))
        return transaction.refunds?.first { $0.reversedAt != nil && !known.contains($0.number) }
    }

    private mutating func approve(_ event: TransactionChanged, _ row: OutboxRow) {
        guard var record = records[event.transaction.id] else {
            return contradict(row, "the log has no event of its beginning")
        }
        guard record.transaction == event.transaction else {
            return contradict(row, "it is not the transaction that was approved")
        }
        record.approval = .approve
        record.approvalAct = event.act
        records[event.transaction.id] = record
        changed.insert(event.transaction.id)
    }

    // MARK: - Attempts and ownerships

    /// Derives the attempt and the ownership from a change of a transaction.
    private mutating func settle(
        _ before: TransactionRecord,
        _ after: TransactionRecord,
        _ row: OutboxRow,
        by act: Act?
    ) {
        let transaction = after.transaction
        let price = before.transaction.price
        switch row.event.type {
        case .transactionPurchased where !price.isZero:
            settleAttempt(of: transaction.id, price, transaction.price.isZero ? .granted : .charged)
        case .transactionFailed where !price.isZero:
            if let reason = transaction.failureReason {
                settleAttempt(of: transaction.id, price, .failed(reason))
            }
        case .transactionRefunded:
            if let refund = Self.newRefund(in: transaction, since: before), !refund.amount.isZero {
                let key = AttemptKey(
                    transactionID: transaction.id,
                    kind: .refund,
                    number: refund.number
                )
                newAttempts[key] = Self.settled(
                    key,
                    refund.amount,
                    .refunded,
                    revokes: refund.revokes,
                    by: act
                )
            }
        case .transactionRefundReversed:
            if let refund = Self.reversedRefund(in: transaction, since: before),
                !refund.amount.isZero
            {
                let key = AttemptKey(
                    transactionID: transaction.id,
                    kind: .reversal,
                    number: refund.number
                )
                newAttempts[key] = Self.settled(key, refund.amount, .reversed, by: act)
            }
        default: break
        }
        // No event says which transaction is being charged, so only an owner gives up an ownership
        // here.
        let types: Set<EventType> = [
            .transactionPurchased, .transactionRefunded, .transactionRefundReversed,
        ]
        guard types.contains(row.event.type), !transaction.reason.isCopy,
            let change = OwnershipRules.change(from: before, to: after, at: row.event.time)
        else { return }
        ownershipChanges[change.key, default: []].append(change)
    }

    /// The ownership of a non-consumable after the batch.
    ///
    /// - Parameters:
    ///   - key: The non-consumable and its account.
    ///   - owner: The ownership before the batch.
    /// - Returns: The ownership after the batch; `nil` if there is none.
    func owner(of key: OwnershipKey, after owner: Ownership?) -> Ownership? {
        (ownershipChanges[key] ?? []).reduce(owner) { OwnershipRules.apply($1, to: $0) }
    }

    /// Settles the charge of a transaction.
    private mutating func settleAttempt(
        of id: TransactionID,
        _ amount: Money,
        _ end: AttemptEnd
    ) {
        let key = AttemptKey(transactionID: id, kind: .charge)
        newAttempts[key] = Self.settled(key, amount, end)
    }

    /// An attempt as far as the log shows it; events do not contain the requests to the processor.
    private static func settled(
        _ key: AttemptKey,
        _ amount: Money,
        _ end: AttemptEnd,
        revokes: Bool = false,
        by act: Act? = nil
    ) -> ProcessorAttempt {
        ProcessorAttempt(
            transactionID: key.transactionID,
            kind: key.kind,
            number: key.number,
            id: AttemptID(bytes: .zero),
            step: .settled,
            paymentMethod: "",
            amount: amount,
            revokes: revokes,
            act: act,
            end: end
        )
    }

    private mutating func applyStray(_ event: TransactionChanged, _ row: OutboxRow) {
        let id = event.transaction.id
        guard let record = records[id], record.transaction == event.transaction else {
            return contradict(row, "it is not the transaction that was charged")
        }
        guard let reference = event.posting, let gross = reference.gross else {
            return contradict(row, "it names no posting")
        }
        let isCharge = row.event.type == .strayCharged
        let postingID = PostingID(bytes: reference.id.bytes)
        let posting =
            isCharge
            ? LedgerRules.strayCharge(
                id: postingID,
                transactionID: id,
                buyer: record.transaction.accountID,
                gross: gross,
                time: row.event.time
            )
            : LedgerRules.strayChargeReturn(
                id: postingID,
                transactionID: id,
                number: 1,
                buyer: record.transaction.accountID,
                gross: gross,
                time: row.event.time
            )
        if let posting { postings.append(posting) }
        let key = AttemptKey(transactionID: id, kind: isCharge ? .charge : .refund)
        if isCharge, newAttempts[key] == nil {
            strayCharges.append(Self.settled(key, gross, .charged))
        } else {
            // An attempt keeps the amount that was asked for, even if another one was charged. The
            // return of a stray charge leaves the buyer nothing.
            newAttempts[key] = Self.settled(
                key,
                newAttempts[key]?.amount ?? gross,
                isCharge ? .charged : .refunded,
                revokes: !isCharge
            )
        }
    }

    mutating func contradict(_ row: OutboxRow, _ reason: String) {
        contradictions.append(LogContradiction(row, reason))
    }
}
