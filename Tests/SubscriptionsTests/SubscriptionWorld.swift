import EventTypes
import Subscriptions

/// One account, its subscription, a processor that answers when it likes, and a clock.
///
/// It does what `payments` will do, in memory: it writes down every plan, and it returns what a plan
/// calls stray. Nothing in it draws at random, so the same steps always give the same history.
struct SubscriptionWorld {
    /// Something that happens.
    enum Step: CustomStringConvertible, Equatable {
        case wait(hours: Int64)
        /// Waits until the next action is due.
        case waitForAction
        /// Carries out due actions: one, or all that are due.
        case scheduler(all: Bool)
        /// A purchase that the processor was asked for; it is answered later.
        case choose(Int)
        /// A purchase with the product's introductory offer, if the account may have it.
        case introduce(Int)
        /// A promotional offer for the running product.
        case redeem(Int)
        case turnOn, turnOff, chargeNow, end
        /// A number of days for nothing; each number is a request of its own.
        case extend(Int)
        /// The processor answers an open call.
        case answer(Int, Answer)
        case refund(Int, revokes: Bool)
        case reverse(Int)
        /// The catalog asks another price, or no longer sells.
        case price(Int64?)
        /// The price rises to so many per cent in some days.
        case raise(Int64, days: Int64)
        /// A test asks for consent to a price at once.
        case ask
        /// The increase is taken back, or answered.
        case withdraw, agree, decline

        enum Answer { case captured, failed, capturedSilently, failedSilently }

        var description: String {
            switch self {
            case .wait(let hours): ".wait(hours: \(hours))"
            case .waitForAction: ".waitForAction"
            case .scheduler(let all): ".scheduler(all: \(all))"
            case .choose(let index): ".choose(\(index))"
            case .introduce(let index): ".introduce(\(index))"
            case .redeem(let index): ".redeem(\(index))"
            case .turnOn: ".turnOn"
            case .turnOff: ".turnOff"
            case .chargeNow: ".chargeNow"
            case .end: ".end"
            case .extend(let days): ".extend(\(days))"
            case .answer(let index, let answer): ".answer(\(index), .\(answer))"
            case .refund(let index, let revokes): ".refund(\(index), revokes: \(revokes))"
            case .reverse(let index): ".reverse(\(index))"
            case .raise(let percent, let days): ".raise(\(percent), days: \(days))"
            case .ask: ".ask"
            case .withdraw: ".withdraw"
            case .agree: ".agree"
            case .decline: ".decline"
            case .price(let price): ".price(\(price.map(String.init) ?? "nil"))"
            }
        }
    }

    /// A call of the processor, open until the store knows its outcome.
    private struct Call {
        let id: TransactionID
        /// `nil` for a purchase.
        let charge: RenewalCharge?
        let purchase: SubscriptionPurchase?
        /// The time at which the processor took the money; `nil` while it has not.
        var capturedAt: StoreTime?
        var isDecided = false

        var amount: Money {
            charge?.price ?? purchase?.offer?.price ?? purchase?.product.price ?? usd(0)
        }
    }

    static let products = [gold, silver, silverTwin, silverYear, bronze]
    private static let offers = [
        gold.id: introductory(.payAsYouGo, gold.terms.period, 3, price: 499),
        silver.id: introductory(.freeTrial, SubscriptionPeriod(1, .week), price: 0),
        silverTwin.id: introductory(.payUpFront, SubscriptionPeriod(3, .month), price: 1299),
        silverYear.id: introductory(.freeTrial, price: 0),
    ]

    let machine: SubscriptionStateMachine
    private(set) var now = at("2026-01-31T10:00:00")
    private(set) var history: SubscriptionHistory?
    private var calls: [Call] = []
    private var quote: Int64? = 100_000
    private var introducedBy: TransactionID?
    private var lastID: Int64 = 0

    init(_ policy: SubscriptionPolicy) { machine = SubscriptionStateMachine(policy: policy) }

    private var subscription: Subscription? { history?.subscription }

    /// The broken invariants after the steps so far.
    var findings: [AuditFinding] {
        guard let history else { return [] }
        let audit = SubscriptionAudit(policy: machine.policy)
        return audit.findings(in: [history], at: now)
    }

    mutating func take(_ step: Step) {
        switch step {
        case .wait(let hours): now = now.advanced(by: .hours(hours))
        case .waitForAction:
            if let next = subscription.flatMap({ machine.dueActions.next(for: $0) }) {
                now = max(now, next.time)
            }
        case .scheduler(let all):
            // A charge that is asked for is open until it is answered, so this ends.
            while let next = subscription.flatMap({ machine.dueActions.next(for: $0) }),
                next.time <= now
            {
                apply(.due(next.kind, currentQuote))
                guard all else { return }
            }
        case .choose(let index): choose(Self.products[index % Self.products.count])
        case .introduce(let index):
            choose(Self.products[index % Self.products.count], isIntroduced: true)
        case .redeem(let index): redeem(index)
        case .turnOn: apply(.autoRenewTurnedOn)
        case .turnOff: apply(.autoRenewTurnedOff)
        case .chargeNow: apply(.chargeRequested(currentQuote))
        case .end: apply(.ended(.unknown))
        case .extend(let days):
            apply(.extended(RequestedExtension(id: "\(days)", days: days, reasonCode: 0)))
        case .answer(let index, let answer): self.answer(index, answer)
        case .refund(let index, let revokes): refund(index, revokes: revokes)
        case .reverse(let index): reverse(index)
        case .price(let price): quote = price
        case .raise(let percent, let days): raise(percent, .scheduled, inDays: days)
        case .ask: raise(130, .pending, inDays: 0)
        case .withdraw: apply(.priceIncreaseWithdrawn)
        case .agree: apply(.priceIncreaseAnswered(nil, isAgreed: true))
        case .decline: apply(.priceIncreaseAnswered(nil, isAgreed: false))
        }
    }

    private mutating func raise(
        _ percent: Int64,
        _ status: PriceIncreaseStatus,
        inDays days: Int64
    ) {
        guard let subscription else { return }
        let next = subscription.renewalProduct
        lastID += 1
        apply(
            .priceIncreaseScheduled(
                PriceIncrease(
                    id: PriceChangeID(unchecked: "\(lastID)"),
                    productID: next.id,
                    price: usd(next.price.minorUnits * percent / 100),
                    effectiveAt: now.advanced(by: .days(days)),
                    status: status
                )
            )
        )
    }

    /// Asks for every open call, and carries out all that is due.
    mutating func settle() {
        repeat {
            while !calls.isEmpty { answer(0, .failed) }
            take(.scheduler(all: true))
        } while !calls.isEmpty
    }

    private var currentQuote: RenewalQuote {
        RenewalQuote(storefront: usa, price: quote.map(usd))
    }

    private mutating func draw() -> TransactionID {
        lastID += 1
        return TransactionID(number: lastID)
    }

    private mutating func choose(_ product: SubscriptionProduct, isIntroduced: Bool = false) {
        switch ProductChoice.judge(product.id, product.terms, meeting: subscription) {
        case .charge(let replaced):
            let id = draw()
            var bought = purchase(product, id.number)
            bought.replaces = replaced
            if isIntroduced, introducedBy == nil, subscription?.state.isRunning != true {
                bought.offer = Self.offers[product.id]
                if bought.offer != nil {
                    introducedBy = id
                    if id.number.isMultiple(of: 2) { bought.laterOffer = codeOffer(of: product.id) }
                }
            }
            // Some of those whose subscription has ended come back with a win-back offer.
            if bought.offer == nil, subscription?.state == .expired, id.number.isMultiple(of: 3) {
                bought.offer = Self.offers[product.id]
                bought.offer?.type = .winBack
                bought.offer?.id = OfferID(unchecked: "back")
            }
            calls.append(Call(id: id, charge: nil, purchase: bought))
        case .schedule: apply(.productScheduled(product))
        case .withdraw: apply(.scheduleWithdrawn)
        case .turnOn: apply(.autoRenewTurnedOn)
        case .chargeOwed: apply(.chargeRequested(currentQuote))
        case .current: break
        }
    }

    private mutating func redeem(_ index: Int) {
        guard let product = subscription?.product, var offer = Self.offers[product.id] else {
            return
        }
        offer.type = .promotional
        offer.id = OfferID(unchecked: "offer\(index)")
        if index.isMultiple(of: 2), let code = codeOffer(of: product.id) { offer = code }
        apply(.offerRedeemed(offer))
    }

    /// An offer of a code that comes after the introductory one.
    private func codeOffer(of product: ProductID) -> PeriodOffer? {
        guard var offer = Self.offers[product] else { return nil }
        offer.type = .code
        offer.id = OfferID(unchecked: "spring")
        offer.introductory = .comesFirst
        return offer
    }

    /// Lets the processor answer.
    ///
    /// A silent deed comes out when the processor is asked again.
    private mutating func answer(_ index: Int, _ answer: Step.Answer) {
        guard !calls.isEmpty else { return }
        let place = index % calls.count
        if !calls[place].isDecided {
            calls[place].isDecided = true
            if answer == .captured || answer == .capturedSilently { calls[place].capturedAt = now }
        }
        guard answer == .captured || answer == .failed else {
            if let charge = calls[place].charge { apply(.chargeUnknown(charge.key)) }
            return
        }
        let call = calls.remove(at: place)
        guard let capturedAt = call.capturedAt else {
            if introducedBy == call.id { introducedBy = nil }
            if let charge = call.charge { apply(.chargeFailed(charge.key)) }
            return
        }
        let move =
            if let charge = call.charge {
                apply(.chargeSucceeded(charge.key, call.id, capturedAt: capturedAt))
            } else if let purchase = call.purchase {
                apply(.purchaseCharged(purchase))
            } else { SubscriptionMove.stray }
        if move == .stray, introducedBy == call.id { introducedBy = nil }
        guard !call.amount.isZero else { return }
        var capture = SubscriptionHistory.Capture(transactionID: call.id, amount: call.amount)
        if move == .stray {
            capture.transactionID = nil
            capture.isReturned = true
        }
        history?.captures.append(capture)
    }

    private mutating func refund(_ index: Int, revokes: Bool) {
        guard let history else { return }
        let paid = history.captures.filter { !$0.isReturned }
        guard !paid.isEmpty, let id = paid[index % paid.count].transactionID else { return }
        let refunded = history.refunds.filter { $0.transactionID == id && !$0.isReversed }
            .reduce(Int64(0)) { $0 + $1.amount.minorUnits }
        let rest = paid[index % paid.count].amount.minorUnits - refunded
        guard rest > 0 else { return }
        let amount = usd(revokes ? rest : (rest + 1) / 2)
        self.history?.refunds.append(.init(transactionID: id, amount: amount))
        apply(.refunded(id, amount, revokes: revokes))
    }

    private mutating func reverse(_ index: Int) {
        guard let history else { return }
        let open = history.refunds.indices.filter { !history.refunds[$0].isReversed }
        guard !open.isEmpty else { return }
        let place = open[index % open.count]
        self.history?.refunds[place].isReversed = true
        let refund = history.refunds[place]
        apply(.refundReversed(refund.transactionID, refund.amount, restores: true))
    }

    @discardableResult
    private mutating func apply(_ event: SubscriptionEvent) -> SubscriptionMove {
        let (overdue, move) = machine.applyInOrder(event, at: now, to: subscription)
        for plan in overdue + [move.plan].compactMap(\.self) { write(plan) }
        return move
    }

    private mutating func write(_ plan: SubscriptionPlan) {
        var history = self.history ?? SubscriptionHistory(subscription: plan.subscription)
        history.subscription = plan.subscription
        if let change = SubscriptionHistory.Change(plan, at: now) { history.changes.append(change) }
        let sent = plan.notifications.map {
            SubscriptionHistory.Sent(version: plan.subscription.version, notification: $0)
        }
        history.sent = (history.sent ?? []) + sent
        history.refunds += plan.refunds.map {
            SubscriptionHistory.Refund(transactionID: $0.transactionID, amount: $0.amount)
        }
        history.actions = [machine.dueActions.next(for: plan.subscription)].compactMap(\.self)
        history.openCharges = [plan.subscription.charge?.key].compactMap(\.self)
        history.entitlementEnd = plan.subscription.entitlementEnd
        if let charge = plan.charge {
            calls.append(Call(id: draw(), charge: charge, purchase: nil))
        }
        self.history = history
    }
}
