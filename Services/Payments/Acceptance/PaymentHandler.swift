import EventTypes
import Messaging
import Postgres
import ServiceKit
import StoreAPI
import Subscriptions

/// Accepts payment requests in batches.
///
/// A batch of any size takes one database transaction and a handful of statements.
///
/// For each accepted request it writes a transaction in `purchasing`, its event, and an attempt to
/// charge, so no answered request is lost. This type reads and writes; ``AcceptanceBatch`` decides.
struct PaymentHandler: Sendable {
    let context: PaymentsContext
    let processor: any PaymentProcessor
    let products: ProductStore
    let tax: TaxRates
    /// The keys with which merchants' servers sign offers.
    let offerKeys: OfferKeys
    /// Called after each commit with the attempts to carry out; the outbox may have new events.
    let didCommit: @Sendable ([ProcessorAttempt]) -> Void

    private let counters = PaymentCounters()
    private let pruning = NoncePruning()

    /// Makes the entry of a request in a batch, which is to be made before the batch begins.
    func entry(for submission: PaymentSubmission) -> AcceptanceBatch.Entry {
        AcceptanceBatch.Entry(submission, signedBy: offerKeys)
    }

    /// Accepts or refuses each request of a batch.
    func accept(_ entries: [AcceptanceBatch.Entry]) async throws -> [PaymentReply] {
        let batch = try await apply(entries)
        didCommit(batch.attempts)
        counters.count(batch.replies)
        return batch.replies
    }

    /// Applies a batch, again if another batch takes one of its keys at this moment.
    ///
    /// The next try sees the transactions of the other batch, and answers the request as a
    /// repetition.
    private func apply(_ entries: [AcceptanceBatch.Entry]) async throws -> AcceptanceBatch {
        var tries = 0
        while true {
            do {
                return try await context.takingKeys { connection in
                    try apply(entries, on: connection)
                }
            } catch let error as PaymentError where error.code == .keyTaken {
                tries += 1
                guard tries <= entries.count else { throw error }
            }
        }
    }

    private func apply(
        _ entries: [AcceptanceBatch.Entry],
        on connection: isolated PostgresConnection
    ) throws -> AcceptanceBatch {
        let time = context.now()
        var batch = AcceptanceBatch(
            entries,
            at: time,
            in: context.environment,
            subscriptions: context.subscriptions
        )
        // The lock comes before all reads. From here on, committed uses of keys and intents are
        // visible, and no other database transaction can use these intents until this one ends.
        try AccountStore.lockExisting(batch.openIntentAccounts, on: connection)
        let (keys, accounts) = (batch.openKeys, batch.openAccounts)
        // There may be more ids than payments in the end; the rest is never used.
        let (made, products, standings, intents, ids, tests, saved) = try connection.read(
            uses(of: keys),
            products.load(batch.openProducts, at: time),
            AccountStore.standings(of: accounts),
            PurchaseIntentStore.open(of: batch.openIntentAccounts),
            TransactionStore.nextIDs(keys.count),
            TestSettingsStore.settings(of: context.testedAccounts(accounts)),
            PaymentMethodStore.saved(
                by: processor.hasSavedMethods ? accounts : [],
                at: processor.account(of:)
            )
        )
        try replay(&batch, made, on: connection)
        let offers = try lockSubscriptions(of: &batch, products, on: connection)
        batch.simulated = SimulatedCharges(tests)
        batch.methodAsksForApproval = processor.asksForApproval
        let methods = SavedMethods(byAccount: processor.hasSavedMethods ? saved : nil)
        batch.judge(
            products: products,
            standings: standings,
            intents: intents,
            offers: offers,
            methodRefusal: {
                processor.refusal(of: $0) ?? methods.refusal(of: $0, from: $1)
            }
        )
        batch.begin(ids, drawing: context.ids, tax: tax, leaseEnd: context.leaseEnd)
        try TestSettingsStore.save(batch.simulated.changed, on: connection)
        let accountEvents = try endIntents(batch.paidIntents, at: time, on: connection)
        try context.save(batch.subscriptions.changedRows, decidedAt: time, on: connection)
        try SubscriptionStore.saveIntroductions(batch.subscriptions.introducedRows, on: connection)
        let subscriptionEvents = try batch.subscriptions.changes.map {
            try OutboxEvent($0, at: time, in: context.environment)
        }
        var settlement = Settlement(context)
        batch.refunds = try settlement.refund(
            batch.subscriptions.nextRefunds(),
            on: connection
        )
        let written = try AcceptanceWriter(context: context).write(
            batch.acceptances,
            followedBy: accountEvents + subscriptionEvents,
            at: time,
            on: connection
        )
        // These locks come last, so that nobody who holds one waits for another lock.
        let nonces = batch.usedNonces
        try OfferNonceStore.insert(nonces, at: time, on: connection)
        try prune(after: nonces.count, on: connection)
        try CodeStore.redeem(batch.redemptions, at: time, on: connection)
        try batch.answer(with: written)
        return batch
    }

    /// Deletes old nonces after some were used, if it is time.
    private func prune(after count: Int, on connection: isolated PostgresConnection) throws {
        let now = context.machineNow()
        guard count > 0, pruning.isDue(after: count, at: now) else { return }
        try OfferNonceStore.prune(at: now, on: connection)
    }

    /// Reads the transactions that requests made under keys.
    private func uses(
        of keys: Set<RequestKey>
    ) -> PostgresReading<[(accountID: AccountID, key: UsedKey, id: TransactionID)]> {
        TransactionStore.made(under: keys.map { ($0.accountID, $0.idempotencyKey) })
    }

    /// Locks the subscriptions that the requests of a batch are about, and reads in the same round trip
    /// what decides about the signed offers and the codes.
    ///
    /// Another instance may have accepted one of the requests while this one waited for the lock. Its
    /// key is looked for again, so that nobody is refused because of what the request itself has done.
    private func lockSubscriptions(
        of batch: inout AcceptanceBatch,
        _ products: [ProductID: Product],
        on connection: isolated PostgresConnection
    ) throws -> OfferFacts {
        let places = batch.openSubscriptions(products)
        try SubscriptionStore.open(places, on: connection)
        // The lock comes before all other reads.
        let (rows, made, used, codes) = try connection.read(
            SubscriptionStore.locking(places),
            uses(of: places.isEmpty ? [] : batch.openKeys),
            OfferNonceStore.used(batch.openNonces),
            CodeStore.facts(of: batch.openCodes)
        )
        batch.subscriptions.take(rows)
        try replay(&batch, made, on: connection)
        var facts = OfferFacts(time: context.machineNow())
        (facts.used, facts.codes, facts.redeemed) = (used, codes.codes, codes.redeemed)
        let named = batch.openOfferTransactions
        // The locks of the subscriptions are held, so none of these is paid or fails meanwhile.
        let introductions = batch.openIntroductions(products)
        let records = try TransactionStore.load(
            Array(named.union(introductions)),
            on: connection
        )
        facts.owners = records.mapValues(\.accountKey)
        facts.unpaidIntroductions = introductions.filter { id in
            guard let state = records[id]?.transaction.state else { return false }
            return state == .purchasing || state == .deferred
        }
        return facts
    }

    /// Answers requests whose key was used before.
    private func replay(
        _ batch: inout AcceptanceBatch,
        _ made: [(accountID: AccountID, key: UsedKey, id: TransactionID)],
        on connection: isolated PostgresConnection
    ) throws {
        guard !made.isEmpty else { return }
        var uses: [RequestKey: (fingerprint: [UInt8], id: TransactionID)] = [:]
        for use in made {
            let key = RequestKey(accountID: use.accountID, idempotencyKey: use.key.idempotencyKey)
            uses[key] = (use.key.fingerprint, use.id)
        }
        let ids = made.map(\.id)
        try batch.replay(
            uses,
            records: try TransactionStore.load(ids, on: connection),
            chargeAmounts: try AttemptStore.chargeAmounts(of: ids, on: connection)
        )
    }

    /// Ends the paid intents in the database transaction of their payments.
    ///
    /// - Returns: The events of the accounts that change.
    private func endIntents(
        _ paid: [(intent: IntentKey, payment: TransactionRecord)],
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> [OutboxEvent] {
        guard !paid.isEmpty else { return [] }
        try PurchaseIntentStore.end(
            paid.map { ($0.intent.id, $0.payment.transaction.id) },
            at: time,
            on: connection
        )
        let keys = Set(paid.map(\.intent.account))
        try AccountStore.raise(keys, on: connection)
        // The event of an account that pays two intents in a batch belongs to the trace of the
        // last.
        let traces = Dictionary(paid.map { ($0.intent.account, $0.payment.traceparent) }) { $1 }
        return try AccountStore.load(keys, on: connection).map { key, account in
            try OutboxEvent(account, at: time, traceparent: traces[key] ?? nil)
        }
    }
}
