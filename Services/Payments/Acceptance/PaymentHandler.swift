import EventTypes
import Ledger
import Messaging
import Metrics
import Postgres
import ServiceKit
import StoreAPI

/// Accepts payment requests: one database transaction and a handful of statements for a whole
/// batch, whatever its size.
///
/// In it a request becomes a transaction in `purchasing`, the event that says so, and an attempt
/// that somebody has to carry out, so nothing that was answered is lost.
struct PaymentHandler: Sendable {
    let context: PaymentsContext
    let processor: any PaymentProcessor
    let products: ProductStore
    let tax: TaxRates
    /// Takes what was committed: attempts to carry out, events to publish.
    let didCommit: @Sendable ([ProcessorAttempt]) -> Void

    private let counters = PaymentCounters()

    private var writer: AcceptanceWriter { AcceptanceWriter(context: context) }

    /// What a batch came to: a reply to each request, and the attempts that are owed.
    private struct Batch: Sendable {
        var replies: [PaymentReply?]
        var attempts: [ProcessorAttempt] = []
    }

    /// Accepts or refuses each request of a batch.
    func accept(_ batch: [PaymentSubmission]) async throws -> [PaymentReply] {
        let result = try await context.client.withTransaction { connection in
            try apply(batch, on: connection)
        }
        didCommit(result.attempts)
        let replies = result.replies.map { $0 ?? .refused(.idempotencyKeyReused) }
        counters.count(replies)
        return replies
    }

    private func apply(
        _ batch: [PaymentSubmission],
        on connection: isolated PostgresConnection
    ) throws -> Batch {
        let time = context.now()
        var result = Batch(replies: Array(repeating: nil, count: batch.count))
        let fingerprints = batch.map(\.fingerprint)
        // Before anything is looked up: whoever has used a key or an intent meanwhile is visible
        // from here on, and nobody else uses an intent until this ends.
        try AccountStore.lockExisting(
            Set(batch.filter { $0.request.purchaseIntentID != nil }.map(\.accountKey)),
            on: connection
        )
        try replay(batch, fingerprints, &result, on: connection)

        var leaders: [RequestKey: Int] = [:]
        var followers: [Int] = []
        var acceptances = try decide(
            batch,
            fingerprints,
            &leaders,
            &followers,
            &result,
            time,
            on: connection
        )
        let taken = try IdempotencyStore.take(
            acceptances.map {
                (batch[$0.position].key, fingerprints[$0.position], $0.record.transaction.id)
            },
            at: time,
            on: connection
        )
        if taken.count < acceptances.count {
            // Another batch has taken some of these keys since we looked; its use of them is
            // visible by now.
            acceptances.removeAll { !taken.contains(batch[$0.position].key) }
            try replay(batch, fingerprints, &result, on: connection)
            guard
                leaders.values.allSatisfy({
                    result.replies[$0] != nil || taken.contains(batch[$0].key)
                })
            else { throw PaymentError(.keyVanished) }
        }
        let accountEvents = try endIntents(of: acceptances, batch, time, on: connection)
        acceptances = try writer.write(
            acceptances,
            followedBy: accountEvents,
            at: time,
            on: connection
        )
        for acceptance in acceptances {
            result.replies[acceptance.position] = .accepted(
                body: acceptance.body,
                isReplay: false
            )
        }
        answer(followers, of: leaders, batch, fingerprints, &result)
        result.attempts = acceptances.compactMap(\.attempt).filter { $0.step == .calling }
        return result
    }

    /// Answers requests whose key was used before: the same request as the first time, any other
    /// with a refusal.
    private func replay(
        _ batch: [PaymentSubmission],
        _ fingerprints: [[UInt8]],
        _ result: inout Batch,
        on connection: isolated PostgresConnection
    ) throws {
        let open = batch.indices.filter { result.replies[$0] == nil }
        let uses = try IdempotencyStore.uses(
            of: Array(Set(open.map { batch[$0].key })),
            on: connection
        )
        guard !uses.isEmpty else { return }
        let ids = uses.values.flatMap(\.transactionIDs)
        let records = try TransactionStore.load(ids, on: connection)
        let amounts = try AttemptStore.chargeAmounts(of: ids, on: connection)
        for position in open {
            guard let use = uses[batch[position].key] else { continue }
            guard use.fingerprint == fingerprints[position],
                let id = use.transactionIDs.first, let record = records[id]
            else {
                result.replies[position] = .refused(.idempotencyKeyReused)
                continue
            }
            let first = PaymentRules.firstAnswer(
                of: record.transaction,
                chargeAmount: amounts[id]
            )
            result.replies[position] = .accepted(
                body: try EventCoding.encode(
                    TransactionChanged(
                        transaction: first,
                        purchaseIntentID: batch[position].request.purchaseIntentID,
                        environment: context.environment.rawValue
                    )
                ),
                isReplay: true
            )
        }
    }

    /// Applies the rules to what is left.
    ///
    /// Of several requests with one key the first that is accepted leads, and those after it
    /// follow.
    private func decide(
        _ batch: [PaymentSubmission],
        _ fingerprints: [[UInt8]],
        _ leaders: inout [RequestKey: Int],
        _ followers: inout [Int],
        _ result: inout Batch,
        _ time: Timestamp,
        on connection: isolated PostgresConnection
    ) throws -> [Acceptance] {
        let open = batch.indices.filter { result.replies[$0] == nil }
        let products = try products.load(
            Set(open.map { batch[$0].request.productID }),
            on: connection
        )
        let standings = try AccountStore.standings(
            of: Set(open.map { batch[$0].accountKey }),
            on: connection
        )
        var intents = try openIntents(open.map { batch[$0] }, on: connection)
        var accepted: [(position: Int, product: Product, price: Money)] = []
        for position in open {
            let submission = batch[position]
            guard leaders[submission.key] == nil else {
                followers.append(position)
                continue
            }
            let product = products[submission.request.productID]
            let price = PaymentRules.price(
                of: submission.request,
                account: standings[submission.accountKey] ?? AccountStanding(),
                product: product,
                intent: submission.intent.flatMap { intents[$0] },
                methodRefusal: processor.refusal(of: submission.request.paymentMethod)
            )
            switch price {
            case .failure(let refusal): result.replies[position] = .refused(refusal)
            case .success(let price):
                guard let product else { continue }
                if let intent = submission.intent { intents[intent] = nil }
                leaders[submission.key] = position
                accepted.append((position, product, price))
            }
        }
        let ids = try TransactionStore.nextIDs(accepted.count, on: connection)
        return zip(ids, accepted).map { id, accepted in
            acceptance(id, batch[accepted.position], accepted, time)
        }
    }

    private func acceptance(
        _ id: TransactionID,
        _ submission: PaymentSubmission,
        _ accepted: (position: Int, product: Product, price: Money),
        _ time: Timestamp
    ) -> Acceptance {
        let request = submission.request
        let record = TransactionRecord(
            transaction: PaymentRules.transaction(
                id: id,
                for: request,
                of: submission.account.accountID,
                in: submission.account.bundleID,
                product: accepted.product,
                price: accepted.price,
                time: time
            ),
            taxBasisPoints: tax.basisPoints(in: request.storefront),
            traceparent: submission.trace.description
        )
        var acceptance = writer.acceptance(
            of: record,
            by: request.paymentMethod,
            at: time,
            position: accepted.position
        )
        acceptance.purchaseIntentID = request.purchaseIntentID
        return acceptance
    }

    /// The open intents of the accounts whose requests name any, which are locked.
    private func openIntents(
        _ submissions: [PaymentSubmission],
        on connection: isolated PostgresConnection
    ) throws -> [IntentKey: PurchaseIntent] {
        let keys = Set(submissions.filter { $0.intent != nil }.map(\.accountKey))
        var open: [IntentKey: PurchaseIntent] = [:]
        for (key, intents) in try PurchaseIntentStore.open(of: keys, on: connection) {
            for intent in intents { open[IntentKey(account: key, id: intent.id)] = intent }
        }
        return open
    }

    /// Ends the intents that are paid, in the database transaction of their payments.
    ///
    /// - Returns: What tells of the accounts that changed by it.
    private func endIntents(
        of acceptances: [Acceptance],
        _ batch: [PaymentSubmission],
        _ time: Timestamp,
        on connection: isolated PostgresConnection
    ) throws -> [OutboxEvent] {
        let paid = acceptances.compactMap { acceptance in
            batch[acceptance.position].intent.map { ($0, acceptance.record) }
        }
        guard !paid.isEmpty else { return [] }
        try PurchaseIntentStore.end(
            paid.map { ($0.id, $1.transaction.id) },
            at: time,
            on: connection
        )
        let keys = Set(paid.map(\.0.account))
        try AccountStore.raise(keys, on: connection)
        // An account that pays two intents at once changes by the trace of the last.
        let traces = Dictionary(paid.map { ($0.account, $1.traceparent) }) { $1 }
        return try AccountStore.load(keys, on: connection).map { key, account in
            try OutboxEvent(account, at: time, traceparent: traces[key] ?? nil)
        }
    }

    private func answer(
        _ followers: [Int],
        of leaders: [RequestKey: Int],
        _ batch: [PaymentSubmission],
        _ fingerprints: [[UInt8]],
        _ result: inout Batch
    ) {
        for position in followers where result.replies[position] == nil {
            guard let leader = leaders[batch[position].key],
                fingerprints[leader] == fingerprints[position],
                case .accepted(let body, _) = result.replies[leader]
            else { continue }
            result.replies[position] = .accepted(body: body, isReplay: true)
        }
    }
}
