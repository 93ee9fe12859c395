import EventTypes
import StoreAPI
import StoreTracing
import Subscriptions

/// Everything that a batch of due actions will write.
///
/// Pure. The caller hands in the locked rows and what is known of their products and accounts, and
/// writes the decisions.
struct RenewalPlan: Sendable {
    /// The facts that the actions of a batch depend on.
    struct Facts: Sendable {
        /// The products of the next periods, at their newest versions.
        var products: [ProductID: Product]
        /// The standings of the accounts.
        var standings: [AccountKey: AccountStanding]
        /// The terms that the next periods repeat, by the transactions of the newest periods.
        var paid: [TransactionID: RepeatedTerms]
        /// At least one id for each row.
        var transactionIDs: [TransactionID]
        /// New trace contexts, one for each row.
        var traceparents: [TraceContext]
        /// The wishes of tests for the accounts.
        var tests: [AccountKey: TestSettingsDocument] = [:]
        /// The time of which the books may lack charges; `nil` if there is none.
        var gap: BookGap?
    }

    /// A charge that somebody asks for, although no action is due.
    enum Request: Hashable, Sendable {
        /// The period that is owed (row e7), paid by the subscription's payment method.
        case owed
        /// The period that is owed, paid by another method that the customer pays with from now on.
        case owedBy(PaymentMethod)
        /// The next period, which begins as soon as it is paid. Only tests ask for it.
        case nextPeriod

        fileprivate func event(_ quote: RenewalQuote) -> SubscriptionEvent {
            switch self {
            case .owed, .owedBy: .chargeRequested(quote)
            case .nextPeriod: .renewalForced(quote)
            }
        }

        /// The payment method that replaces the subscription's own; `nil` if none does.
        fileprivate var method: PaymentMethod? {
            guard case .owedBy(let method) = self else { return nil }
            return method
        }
    }

    private(set) var books: SubscriptionBooks
    /// The charges to make, each with its transaction.
    private(set) var acceptances: [Acceptance] = []
    /// The number of actions that were carried out, by the kind of the work.
    private(set) var done: [DueWork: Int64] = [:]
    /// Why requests were refused.
    private(set) var refusals: [SubscriptionKey: SubscriptionRefusal] = [:]
    /// The payment methods that tests have charged.
    private(set) var simulated: SimulatedCharges

    /// Carries out the due action of each row, in their order, or charges for what was asked.
    ///
    /// - Parameters:
    ///   - rows: The rows.
    ///   - request: What is charged now, because somebody asks for it; `nil` if the rows are due.
    ///   - facts: What is known about them.
    ///   - machine: Decides about subscriptions.
    ///   - ids: The source of the ids of attempts.
    ///   - tax: The rates of the tax that the prices contain.
    ///   - leaseEnd: The time until which the attempts belong to this process.
    ///   - time: The present.
    init(
        _ rows: [SubscriptionRow],
        asked request: Request? = nil,
        _ facts: Facts,
        by machine: SubscriptionStateMachine,
        drawing ids: IDSource,
        tax: TaxRates,
        leaseEnd: MachineTime,
        at time: StoreTime
    ) {
        books = SubscriptionBooks(machine, at: time)
        var rows = rows
        if let method = request?.method {
            for index in rows.indices { rows[index].paymentMethod = method }
        }
        books.take(rows)
        // A method that somebody names is charged, whatever a test wants.
        simulated = SimulatedCharges(request?.method == nil ? facts.tests : [:])
        for ((row, id), traceparent) in zip(zip(rows, facts.transactionIDs), facts.traceparents) {
            books.touch(row.key)
            guard let subscription = row.subscription else { continue }
            let action = machine.dueActions.next(for: subscription)
            let product = facts.products[(subscription.nextProduct ?? subscription.product).id]
            let account = AccountKey(
                accountID: subscription.accountID,
                bundleID: subscription.bundleID
            )
            let storefront = facts.standings[account]?.storefront ?? subscription.storefront
            let quote = RenewalQuote(storefront: storefront, price: product?.prices[storefront])
            if action?.kind == .renewalCharge,
                let missed = PriceEnrolmentRules.missed(by: subscription, of: product, at: time)
            {
                _ = books.apply(.priceIncreaseScheduled(missed), to: row.key, within: traceparent)
            }
            let event = request?.event(quote) ?? action.map { .due($0.kind, quote) }
            guard let event else { continue }
            let move = books.apply(event, to: row.key, within: traceparent)
            if case .refused(let refusal) = move { refusals[row.key] = refusal }
            guard let plan = move.plan else { continue }
            if let action, request == nil {
                done[DueWork(action.kind, of: subscription), default: 0] += 1
            }
            guard let charge = plan.charge else { continue }
            let record = TransactionRecord(
                transaction: Self.transaction(
                    id,
                    for: charge,
                    of: subscription,
                    product: product,
                    paid: facts.paid[subscription.period.transactionID],
                    at: time
                ),
                taxBasisPoints: tax.basisPoints(in: charge.storefront),
                traceparent: traceparent
            )
            let first = machine.dueActions.firstChargeTime(of: subscription)
            let since = facts.gap?.beginning(ofChargesFrom: first)
            begin(record, of: row, doubtedSince: since, drawing: ids, leaseEnd: leaseEnd)
        }
    }

    /// Begins the charge of a transaction, or its period if that costs nothing.
    private mutating func begin(
        _ record: TransactionRecord,
        of row: SubscriptionRow,
        doubtedSince: MachineTime?,
        drawing ids: IDSource,
        leaseEnd: MachineTime
    ) {
        let account = AccountKey(accountID: row.key.accountID, bundleID: row.key.bundleID)
        let ownMethod = row.paymentMethod ?? PaymentMethod(rawValue: "")
        let paymentMethod =
            record.transaction.price.isZero
            ? ownMethod : simulated.method(insteadOf: ownMethod, of: account, isRenewal: true)
        var acceptance = Acceptance(
            of: record,
            by: paymentMethod,
            drawing: ids,
            at: books.time,
            leaseEnd: leaseEnd
        )
        // Nobody is asked to approve a renewal: the subscription was approved.
        acceptance.attempt?.isApproved = true
        if let key = record.transaction.subscription?.charge, let id = AttemptID(of: key) {
            acceptance.attempt?.id = id
            acceptance.attempt?.doubtedSince = doubtedSince
        }
        if acceptance.grant != nil, let period = books.begin(record, paidBy: paymentMethod) {
            acceptance.grant = .beginPeriod(period)
        }
        acceptances.append(acceptance)
    }

    /// The transaction of a charge for a next period.
    private static func transaction(
        _ id: TransactionID,
        for charge: RenewalCharge,
        of subscription: Subscription,
        product: Product?,
        paid: RepeatedTerms?,
        at time: StoreTime
    ) -> Transaction {
        Transaction(
            id: id,
            originalID: subscription.id,
            reason: .renewal,
            version: 1,
            state: .purchasing,
            accountID: subscription.accountID,
            bundleID: subscription.bundleID,
            productID: charge.product.id,
            productVersion: product?.version ?? paid?.productVersion ?? 1,
            productType: .autoRenewableSubscription,
            quantity: 1,
            storefront: charge.storefront,
            price: charge.price,
            applicationUsername: paid?.applicationUsername,
            deliveryPlan: product?.deliveryPlan ?? paid?.deliveryPlan ?? [],
            requestedAt: time,
            subscription: TransactionPeriod(
                terms: charge.product.terms,
                charge: charge.key,
                offer: charge.offer,
                renewalPrice: charge.offer == nil ? nil : charge.product.price
            )
        )
    }
}
