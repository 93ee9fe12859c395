import EventTypes
import Subscriptions
import Testing

/// A subscription that a test drives from one date to the next.
struct StoryTeller {
    let machine: SubscriptionStateMachine
    var subscription: Subscription?
    private(set) var notifications: [String] = []
    private(set) var changes: [SubscriptionHistory.Change] = []
    private var lastID: Int64 = 0

    init(_ policy: SubscriptionPolicy = policy()) {
        machine = SubscriptionStateMachine(policy: policy)
    }

    /// The next due action.
    var next: DueAction? { subscription.flatMap { machine.dueActions.next(for: $0) } }

    mutating func draw() -> TransactionID {
        lastID += 1
        return TransactionID(number: lastID)
    }

    /// Applies an event after everything that is overdue.
    @discardableResult
    mutating func apply(_ event: SubscriptionEvent, _ time: StoreTime) -> SubscriptionMove {
        let (overdue, move) = machine.applyInOrder(event, at: time, to: subscription)
        for plan in overdue + [move.plan].compactMap(\.self) {
            subscription = plan.subscription
            notifications += plan.notifications.map(\.description)
            if let change = SubscriptionHistory.Change(plan, at: time) { changes.append(change) }
        }
        return move
    }

    /// Buys a product, whatever that means.
    @discardableResult
    mutating func buy(
        _ product: SubscriptionProduct,
        by offer: PeriodOffer? = nil,
        _ time: StoreTime
    ) -> SubscriptionMove {
        var purchase = purchase(product, draw().number)
        purchase.offer = offer
        if let running = subscription, running.state.isRunning {
            purchase.replaces = running.product.id
        }
        return apply(.purchaseCharged(purchase), time)
    }

    /// Carries out the due action, and lets its charge succeed or fail.
    @discardableResult
    mutating func carryOut(
        at late: StoreTime? = nil,
        charging isCharged: Bool = true,
        quote: Int64? = 100_000
    ) throws -> StoreTime {
        let action = try #require(next)
        let time = late ?? action.time
        let quote = RenewalQuote(storefront: usa, price: quote.map(usd))
        let move = apply(.due(action.kind, quote), time)
        let plan = try #require(move.plan, "\(action) is \(move)")
        if let charge = plan.charge { answer(charge, isCharged, time) }
        return time
    }

    mutating func answer(_ charge: RenewalCharge, _ isCharged: Bool, _ time: StoreTime) {
        apply(
            isCharged
                ? .chargeSucceeded(charge.key, draw(), capturedAt: time)
                : .chargeFailed(charge.key),
            time
        )
    }

    /// Carries out everything that is due before a time.
    mutating func run(until time: StoreTime, charging isCharged: Bool) throws {
        while let action = next, action.time <= time { try carryOut(charging: isCharged) }
    }
}

extension StoryTeller {
    /// The findings of the audit, if everything that the story charged and refunded was carried out.
    func findings() throws -> [AuditFinding] {
        var history = SubscriptionHistory(subscription: try #require(subscription))
        history.changes = changes
        history.captures = changes.compactMap(\.newPeriod).filter { !$0.price.isZero }.map {
            SubscriptionHistory.Capture(transactionID: $0.transactionID, amount: $0.price)
        }
        history.refunds = changes.flatMap(\.refunds).map {
            SubscriptionHistory.Refund(transactionID: $0.transactionID, amount: $0.amount)
        }
        history.actions = [next].compactMap(\.self)
        history.openCharges = [history.subscription.charge?.key].compactMap(\.self)
        history.entitlementEnd = history.subscription.entitlementEnd
        let time = try #require(changes.last?.time)
        return SubscriptionAudit(policy: machine.policy).findings(in: history, at: time)
    }
}
