import EventTypes
import StoreAPI
import StoreTracing
import Subscriptions

/// The subscriptions that a database transaction has locked, with the changes so far.
///
/// Pure. The caller locks the rows, hands events in, and writes what changed.
struct SubscriptionBooks: Sendable {
    let machine: SubscriptionStateMachine
    let time: StoreTime
    private(set) var rows: [SubscriptionKey: SubscriptionRow] = [:]
    private var changedKeys: Set<SubscriptionKey> = []
    private var introducedKeys: Set<SubscriptionKey> = []
    /// The changes to publish, in their order.
    private(set) var changes: [SubscriptionChange] = []
    /// The JSON of the subscriptions that are as their last change tells.
    private(set) var documents: [SubscriptionKey: [UInt8]] = [:]
    /// The refunds that changes have booked and that are to be made.
    private var owedRefunds: [SubscriptionPlan.OwedRefund] = []

    /// Begins without rows.
    init(_ machine: SubscriptionStateMachine, at time: StoreTime) {
        self.machine = machine
        self.time = time
    }

    /// The rows to write, in the order of their keys.
    var changedRows: [SubscriptionRow] { changedKeys.sorted().compactMap { rows[$0] } }

    /// The rows whose note of an introductory offer is to be written, in the order of their keys.
    var introducedRows: [SubscriptionRow] { introducedKeys.sorted().compactMap { rows[$0] } }

    /// Adds locked rows.
    mutating func take(_ rows: [SubscriptionRow]) {
        self.rows.reserveCapacity(self.rows.count + rows.count)
        for row in rows where self.rows[row.key] == nil { self.rows[row.key] = row }
    }

    /// Writes a row even if nothing changes, so that its next due action is computed again.
    mutating func touch(_ key: SubscriptionKey) { changedKeys.insert(key) }

    /// Applies an event, after everything that is overdue (rule S112).
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - key: The subscription.
    ///   - traceparent: The trace of the event.
    ///   - act: The act of the administrator who decided it, if one did.
    /// - Returns: The effect of the event itself.
    @discardableResult
    mutating func apply(
        _ event: SubscriptionEvent,
        to key: SubscriptionKey,
        within traceparent: TraceContext?,
        by act: Act? = nil
    ) -> SubscriptionMove {
        let machine = self.machine(of: rows[key])
        let (overdue, move) = machine.applyInOrder(event, at: time, to: rows[key]?.subscription)
        for plan in overdue { note(plan, key, traceparent) }
        if let plan = move.plan { note(plan, key, traceparent, by: act) }
        return move
    }

    /// The machine that decides about a row, with the grace period that a test wants.
    private func machine(of row: SubscriptionRow?) -> SubscriptionStateMachine {
        guard let hasGrace = row?.hasGrace else { return machine }
        var policy = machine.policy
        policy.grace = hasGrace ? policy.grace ?? Self.testedGrace : nil
        return SubscriptionStateMachine(policy: policy)
    }

    /// The grace period of a test, as long as in Apple's.
    private static let testedGrace = Duration.days(16)

    /// Begins the period of a transaction that is paid, or costs nothing.
    ///
    /// - Parameters:
    ///   - record: The transaction, not purchased yet.
    ///   - paymentMethod: The method that paid it.
    /// - Returns: The period; `nil` if the subscription does not take the charge, which is stray.
    mutating func begin(_ record: TransactionRecord, paidBy paymentMethod: PaymentMethod)
        -> BegunPeriod?
    {
        let transaction = record.transaction
        guard let key = SubscriptionKey(of: transaction), let period = transaction.subscription,
            !isOvertaken(transaction)
        else { return nil }
        let event: SubscriptionEvent
        if let charge = period.charge {
            // The processor does not say when it charged: at the earliest when it was asked to.
            let open = rows[key]?.subscription?.charge
            let capturedAt = open?.key == charge ? open?.startedAt : nil
            event = .chargeSucceeded(charge, transaction.id, capturedAt: capturedAt ?? time)
        } else {
            event = .purchaseCharged(
                SubscriptionPurchase(
                    transactionID: transaction.id,
                    accountID: transaction.accountID,
                    bundleID: transaction.bundleID,
                    storefront: transaction.storefront,
                    product: SubscriptionProduct(
                        id: transaction.productID,
                        terms: period.terms,
                        price: period.renewalPrice ?? transaction.price
                    ),
                    offer: period.offer,
                    laterOffer: period.redeems,
                    replaces: period.replaces
                )
            )
        }
        let move = apply(event, to: key, within: record.traceparent)
        guard let plan = move.plan, let begun = plan.newPeriod else { return nil }
        if period.charge == nil { rows[key]?.paymentMethod = paymentMethod }
        return BegunPeriod(
            subscriptionID: plan.subscription.id,
            startedAt: plan.subscription.startedAt,
            start: begun.start,
            end: begun.end
        )
    }

    /// Keeps the offer that a payment redeems for the running product (rule S53).
    ///
    /// - Parameter record: The transaction of the payment.
    /// - Returns: The transaction as a copy of the running period, and the command that grants it; `nil` if
    ///   the payment redeems nothing.
    mutating func redeem(
        _ record: TransactionRecord
    ) -> (transaction: Transaction, grant: TransactionCommand)? {
        guard let key = SubscriptionKey(of: record.transaction),
            let period = record.transaction.subscription, period.isRedemption,
            let offer = period.redeems,
            let subscription = rows[key]?.subscription
        else { return nil }
        apply(.offerRedeemed(offer), to: key, within: record.traceparent)
        return (
            PaymentRules.redeeming(record.transaction, of: subscription),
            .grantOwned(
                originalID: subscription.id,
                originalPurchasedAt: subscription.startedAt
            )
        )
    }

    /// The reason why a purchase that waited must not be charged any more; `nil` if it may be.
    ///
    /// The account has begun or changed its subscription meanwhile, so the charge would be stray.
    func failure(ofWaiting transaction: Transaction) -> FailureReason? {
        guard !isOvertaken(transaction) else { return .subscriptionChanged }
        guard let key = SubscriptionKey(of: transaction),
            let subscription = rows[key]?.subscription,
            machine.dueActions.state(of: subscription, at: time).isRunning,
            subscription.product.id != transaction.subscription?.replaces
        else { return nil }
        return .subscriptionChanged
    }

    /// Whether the account has come back otherwise since it asked for a win-back offer.
    ///
    /// The offer was for the end before that, even if the subscription has ended again by now.
    private func isOvertaken(_ transaction: Transaction) -> Bool {
        // Its later periods are renewals of what it has begun.
        guard transaction.subscription?.offer?.type == .winBack,
            transaction.subscription?.charge == nil,
            let key = SubscriptionKey(of: transaction),
            let subscription = rows[key]?.subscription
        else { return false }
        return subscription.period.start >= transaction.requestedAt
    }

    /// Whether an account may have the introductory offer of a group now (rule S44).
    func mayHaveIntroductoryOffer(_ key: SubscriptionKey) -> Bool {
        guard let row = rows[key] else { return false }
        return SubscriptionRules.mayHaveIntroductoryOffer(row, at: time, by: machine.dueActions)
    }

    /// Notes that a transaction begins the introductory offer, if it does.
    mutating func introduce(by transaction: Transaction) {
        guard let key = SubscriptionKey(of: transaction),
            transaction.subscription?.beginsIntroductoryOffer == true
        else { return }
        rows[key, default: SubscriptionRow(key: key)].introductoryID = transaction.id
        introducedKeys.insert(key)
    }

    /// Gives the introductory offer back that a failed transaction was to begin.
    mutating func giveIntroductionBack(by transaction: Transaction) {
        guard let key = SubscriptionKey(of: transaction),
            rows[key]?.introductoryID == transaction.id
        else { return }
        rows[key]?.introductoryID = nil
        introducedKeys.insert(key)
    }

    /// Whether a subscription would run with a period again if the refund that took it were reversed.
    ///
    /// It does not if another period followed, or if the period is over.
    func wouldGiveBack(_ transaction: Transaction) -> Bool {
        guard let key = SubscriptionKey(of: transaction) else { return false }
        let reversal = SubscriptionEvent.refundReversed(
            transaction.id,
            .zero(transaction.price.currency),
            restores: true
        )
        let row = rows[key]
        let machine = self.machine(of: row)
        let (_, move) = machine.applyInOrder(reversal, at: time, to: row?.subscription)
        guard let after = move.plan?.subscription else { return false }
        return after.state.isRunning && after.period.transactionID == transaction.id
    }

    /// Adds the posting to the change that a transaction has made.
    mutating func note(_ posting: PostingReference, of id: TransactionID) {
        guard let index = changes.lastIndex(where: { $0.transactionID == id }) else { return }
        changes[index].posting = posting
    }

    /// Removes and returns the refunds that are to be made.
    mutating func nextRefunds() -> [SubscriptionPlan.OwedRefund] {
        defer { owedRefunds = [] }
        return owedRefunds
    }

    private mutating func note(
        _ plan: SubscriptionPlan,
        _ key: SubscriptionKey,
        _ traceparent: TraceContext?,
        by act: Act? = nil
    ) {
        rows[key, default: SubscriptionRow(key: key)].subscription = plan.subscription
        changedKeys.insert(key)
        owedRefunds += plan.refunds
        guard let cause = plan.cause else {
            documents[key] = nil
            return
        }
        let document = plan.subscription.json
        documents[key] = document
        changes.append(
            SubscriptionChange(
                subscription: plan.subscription,
                document: document,
                cause: cause,
                transactionID: plan.newPeriod?.transactionID,
                changedPeriods: plan.changedPeriods,
                refundedTransactionID: plan.refundedTransactionID,
                act: act,
                traceparent: traceparent
            )
        )
    }
}
