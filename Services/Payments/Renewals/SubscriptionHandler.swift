import EventTypes
import Messaging
import Postgres
import StoreAPI
import StoreTracing
import Subscriptions

/// Reads subscriptions, and carries out what accounts and administrators decide about them.
///
/// Each decision is one database transaction, which locks the subscription. A decision that repeats
/// what is already so changes nothing.
struct SubscriptionHandler: Sendable {
    let context: PaymentsContext
    let products: ProductStore
    /// Whether an account may pay by a method.
    let mayPay: @Sendable (PaymentMethod, AccountKey, isolated PostgresConnection) throws -> Bool
    /// Charges for what is owed.
    let renewals: RenewalHandler
    /// Has the processor end charges that wait for their buyers.
    let endCharges: @Sendable ([ProcessorAttempt]) async -> Void
    /// Called after a commit that appended events to the outbox.
    let didCommit: @Sendable () -> Void

    /// Reads the subscriptions of an account in an app, the oldest first.
    func subscriptions(of key: AccountKey) async throws -> [Subscription] {
        try await client.withConnection { connection in
            try SubscriptionStore.load(of: key, on: connection)
        }.map(present)
    }

    /// Reads a page of all subscriptions, in the order of their ids.
    func page(
        in state: SubscriptionState?,
        after id: TransactionID?,
        limit: Int
    ) async throws -> [Subscription] {
        try await client.withConnection { connection in
            try SubscriptionStore.page(in: state, after: id, limit: limit, on: connection)
        }.map(present)
    }

    /// Reads a subscription; `nil` if there is none, or it is not of the account.
    func subscription(_ id: TransactionID, of key: AccountKey? = nil) async throws -> Subscription?
    {
        try await client.withConnection { connection in
            try connection.read(SubscriptionStore.reading(id)).first?.subscription
        }.flatMap { Self.belongs($0, to: key) ? present($0) : nil }
    }

    /// Whether an account may have the introductory offer of a group, as far as is known now.
    func mayHaveIntroductoryOffer(
        of group: SubscriptionGroupID,
        _ account: AccountKey
    ) async throws -> Bool {
        let key = SubscriptionKey(
            accountID: account.accountID,
            bundleID: account.bundleID,
            groupID: group
        )
        let row = try await client.withConnection { connection in
            try connection.read(SubscriptionStore.reading([key])).first
        }
        return SubscriptionRules.mayHaveIntroductoryOffer(
            row ?? SubscriptionRow(key: key),
            at: context.now(),
            by: context.subscriptions.dueActions
        )
    }

    /// Carries out a decision.
    ///
    /// - Parameters:
    ///   - decision: The decision.
    ///   - id: The subscription.
    ///   - key: The account that decides; `nil` for an administrator.
    ///   - act: The act of the administrator; `nil` if the account decides.
    ///   - idempotencyKey: The key under which a charge is made once; `nil` if the request has none.
    ///   - trace: The trace of the request.
    /// - Returns: The subscription afterwards, or the reason why nothing changes.
    /// - Throws: `PostgresError`, or an error of what is written.
    func decide(
        _ decision: Decision,
        on id: TransactionID,
        by key: AccountKey? = nil,
        act: Act? = nil,
        under idempotencyKey: IdempotencyKey? = nil,
        trace: TraceContext
    ) async throws -> Reply {
        if case .method(let method) = decision, let key {
            let waiting = WaitingChargeHandler(context: context, endCharges: endCharges)
            try await waiting.end(of: id, of: key, insteadOf: method, if: mayPay)
        }
        let (reply, isChanged, attempts) = try await client.withTransaction { [self] connection in
            try decide(
                decision,
                on: id,
                by: key,
                act: act,
                under: idempotencyKey,
                trace: trace,
                on: connection
            )
        }
        if isChanged { didCommit() }
        if !attempts.isEmpty { renewals.didCommit(attempts) }
        return reply
    }

    private func decide(
        _ decision: Decision,
        on id: TransactionID,
        by key: AccountKey?,
        act: Act?,
        under idempotencyKey: IdempotencyKey?,
        trace: TraceContext,
        on connection: isolated PostgresConnection
    ) throws -> (reply: Reply, isChanged: Bool, attempts: [ProcessorAttempt]) {
        let time = context.now()
        guard let row = try connection.read(SubscriptionStore.locking(id)).first,
            let subscription = row.subscription, Self.belongs(subscription, to: key)
        else { return (.unknown, false, []) }
        let event: SubscriptionEvent
        switch try change(by: decision, meeting: present(subscription), on: connection) {
        case .failure(let refusal): return (.refused(refusal), false, [])
        case .success(.nothing): return (.done(present(subscription)), false, [])
        case .success(.charge(let request)):
            let used = idempotencyKey.map { Self.chargeKey($0, of: subscription) }
            return try charge(row, subscription, request, under: used, trace: trace, on: connection)
        case .success(.ask):
            return try pay(.owed, of: row, subscription, by: key, trace: trace, on: connection)
        case .success(.method(let method)):
            return try choose(method, for: row, subscription, by: key, trace: trace, on: connection)
        case .success(.event(let decided)): event = decided
        }
        var books = SubscriptionBooks(context.subscriptions, at: time)
        books.take([row])
        let move = books.apply(event, to: row.key, within: trace, by: act)
        try context.save(books.changedRows, decidedAt: time, on: connection)
        let changes = try books.changes.map {
            try OutboxEvent($0, at: time, in: context.environment)
        }
        if !changes.isEmpty { try Outbox.append(changes, on: connection) }
        return (reply(to: row, subscription, move.refusal, books), !changes.isEmpty, [])
    }

    /// Charges at once.
    ///
    /// The answer is the subscription with the charge under way. Its outcome comes as any renewal does.
    /// A request that is repeated under its key charges nothing: the transaction of its charge has the
    /// key, and the subscription is locked.
    private func charge(
        _ row: SubscriptionRow,
        _ subscription: Subscription,
        _ request: RenewalPlan.Request,
        isBuyerPresent: Bool = false,
        under key: UsedKey? = nil,
        trace: TraceContext,
        on connection: isolated PostgresConnection
    ) throws -> (reply: Reply, isChanged: Bool, attempts: [ProcessorAttempt]) {
        if let key {
            let made = try connection.read(
                TransactionStore.made(under: [(subscription.accountID, key.idempotencyKey)])
            )
            guard made.isEmpty else { return (.done(present(subscription)), false, []) }
        }
        let (plan, attempts) = try renewals.charge(
            row,
            request,
            isBuyerPresent: isBuyerPresent,
            under: key,
            within: trace,
            on: connection
        )
        return (
            reply(to: row, subscription, plan.refusals[row.key], plan.books),
            !plan.books.changes.isEmpty, attempts
        )
    }

    private func reply(
        to row: SubscriptionRow,
        _ subscription: Subscription,
        _ refusal: SubscriptionRefusal?,
        _ books: SubscriptionBooks
    ) -> Reply {
        if let refusal { return .refused(SubscriptionChangeRefusal(refusal)) }
        return .done(present(books.rows[row.key]?.subscription ?? subscription))
    }

    /// The consequence of a decision.
    private enum Change {
        /// Nothing: it is so already.
        case nothing
        case event(SubscriptionEvent)
        case charge(RenewalPlan.Request)
        /// A charge for what is owed, because somebody asks for it.
        case ask
        case method(PaymentMethod)
    }

    private func change(
        by decision: Decision,
        meeting subscription: Subscription,
        on connection: isolated PostgresConnection
    ) throws -> Result<Change, SubscriptionChangeRefusal> {
        switch decision {
        case .autoRenew(true): return .success(.event(.autoRenewTurnedOn))
        case .autoRenew(false): return .success(.event(.autoRenewTurnedOff))
        case .charge(let request): return .success(.charge(request))
        case .method(let method): return .success(.method(method))
        case .price(let id, let isAgreed):
            return .success(.event(.priceIncreaseAnswered(id, isAgreed: isAgreed)))
        case .raise(let id, let price, let time):
            return SubscriptionRules.raise(
                of: try connection.read(products.load([id], at: time ?? context.now()))[id],
                id,
                to: price,
                from: time,
                meeting: subscription,
                at: context.now()
            ).map { .event(.priceIncreaseScheduled($0)) }
        case .withdrawRaise: return .success(.event(.priceIncreaseWithdrawn))
        case .ask(let price):
            let time = context.now()
            var increase = SubscriptionRules.increase(
                of: subscription,
                to: price,
                from: time,
                at: time
            )
            increase.status = .pending
            return .success(.event(.priceIncreaseScheduled(increase)))
        case .end(let intent):
            // A period that was paid in advance would have to be refunded.
            return subscription.period.start <= context.now()
                ? .success(.event(.ended(intent))) : .failure(.paidInAdvance)
        case .product(let id):
            return SubscriptionRules.choice(
                of: try connection.read(products.load([id], at: context.now()))[id],
                meeting: subscription
            ).map { event in
                switch event {
                case nil: .nothing
                case .chargeRequested: .ask
                case let event?: .event(event)
                }
            }
        }
    }

    private var client: PostgresClient { context.client }

    private static func belongs(_ subscription: Subscription, to key: AccountKey?) -> Bool {
        guard let key else { return true }
        return key == AccountKey(accountID: subscription.accountID, bundleID: subscription.bundleID)
    }

    /// The subscription with the state that follows from its dates (rule S205).
    func present(_ subscription: Subscription) -> Subscription {
        var present = subscription
        present.state = context.subscriptions.dueActions.state(of: subscription, at: context.now())
        return present
    }
}

/// Extensions of periods, for which nobody pays.
extension SubscriptionHandler {
    /// Moves the end of a subscription's newest period; nobody pays for the days that it gains.
    ///
    /// The subscription and the transaction of the period change in one database transaction. A
    /// repetition under the same identifier changes nothing.
    ///
    /// - Parameters:
    ///   - id: The subscription.
    ///   - request: The extension.
    ///   - act: The act of the administrator.
    ///   - trace: The trace of the request.
    /// - Returns: The subscription afterwards, or the reason why nothing changes.
    /// - Throws: `PostgresError`, or an error of what is written.
    func extend(
        _ id: TransactionID,
        by request: RequestedExtension,
        act: Act?,
        trace: TraceContext
    ) async throws -> Reply {
        let (reply, isChanged) = try await context.client.withTransaction {
            connection -> (Reply, Bool) in
            // The row is locked first, so the newest period stays the newest.
            guard let row = try connection.read(SubscriptionStore.locking(id)).first,
                let period = row.subscription?.period
            else { return (.unknown, false) }
            var settlement = Settlement(context, within: trace)
            try settlement.lock([period.transactionID], on: connection)
            let move = settlement.plan.extend(row.key, by: request, within: trace, by: act)
            if let refusal = move.refusal {
                return (.refused(SubscriptionChangeRefusal(refusal)), false)
            }
            guard let after = settlement.plan.subscriptions.rows[row.key]?.subscription else {
                return (.unknown, false)
            }
            guard move.plan != nil else { return (.done(present(after)), false) }
            _ = try settlement.write(on: connection)
            return (.done(present(after)), true)
        }
        if isChanged { didCommit() }
        return reply
    }
}

/// Payment methods of subscriptions, and charges for what is owed because somebody asks for them.
extension SubscriptionHandler {
    /// Lets another payment method pay a subscription, and charges it at once for what is owed.
    ///
    /// While a charge is under way, only the next one is by the new method. So it is when no charge may
    /// be asked for any more on this day.
    ///
    /// - Parameters:
    ///   - method: The payment method.
    ///   - row: The subscription's row, locked.
    ///   - subscription: The subscription.
    ///   - key: The account that asks; `nil` for an administrator.
    ///   - trace: The trace of the request.
    ///   - connection: A connection in a database transaction.
    /// - Returns: The reply, whether there are new events, and the attempts to carry out.
    /// - Throws: `PostgresError`, or an error of what is written.
    private func choose(
        _ method: PaymentMethod,
        for row: SubscriptionRow,
        _ subscription: Subscription,
        by key: AccountKey?,
        trace: TraceContext,
        on connection: isolated PostgresConnection
    ) throws -> (reply: Reply, isChanged: Bool, attempts: [ProcessorAttempt]) {
        let account = AccountKey(
            accountID: subscription.accountID,
            bundleID: subscription.bundleID
        )
        guard try mayPay(method, account, connection) else {
            return (.refused(.paymentMethodUnknown), false, [])
        }
        switch present(subscription).state {
        case .expired, .revoked, .unknown: return (.refused(.ended), false, [])
        case .active, .inGracePeriod, .inBillingRetryPeriod: break
        }
        switch subscription.state {
        case .inGracePeriod, .inBillingRetryPeriod:
            // The subscription is saved with the method, if it is charged.
            let paid = try pay(
                .owedBy(method),
                of: row,
                subscription,
                by: key,
                trace: trace,
                on: connection
            )
            if case .refused(.tooManyTries) = paid.reply {
                try SubscriptionStore.set(method, of: row.key, on: connection)
            }
            return paid
        case .active, .expired, .revoked, .unknown:
            try SubscriptionStore.set(method, of: row.key, on: connection)
            return (.done(present(subscription)), false, [])
        }
    }

    /// Charges for what is owed because somebody asks for it, as often as ``AskedTries`` allow.
    ///
    /// While a charge is under way, a request begins no other, so it is not counted. If a bank wanted to
    /// see the buyer, one who asks now may act on its page.
    private func pay(
        _ request: RenewalPlan.Request,
        of row: SubscriptionRow,
        _ subscription: Subscription,
        by account: AccountKey?,
        trace: TraceContext,
        on connection: isolated PostgresConnection
    ) throws -> (reply: Reply, isChanged: Bool, attempts: [ProcessorAttempt]) {
        guard subscription.charge == nil else {
            return try charge(row, subscription, request, trace: trace, on: connection)
        }
        let time = context.now()
        guard let key = try AskedTryStore.nextKey(of: subscription, at: time, on: connection) else {
            let rest = AskedTries(of: subscription.id, at: time).rest
            return (.refused(.tooManyTries(retryAfter: rest)), false, [])
        }
        return try charge(
            row,
            subscription,
            request,
            isBuyerPresent: account != nil && subscription.renewalProblem == .buyerMustAct,
            under: key,
            trace: trace,
            on: connection
        )
    }
}
