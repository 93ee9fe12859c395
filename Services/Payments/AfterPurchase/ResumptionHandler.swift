import EventTypes
import Postgres
import StoreAPI
import StoreTracing
import Subscriptions

/// Resumes interrupted payments (spec rule 114).
///
/// The failed transaction stays failed, and exactly one new transaction of the same payment follows
/// it.
struct ResumptionHandler: Sendable {
    let context: PaymentsContext
    let processor: any PaymentProcessor
    let products: ProductStore
    /// Called after each commit with the attempts to carry out; the outbox may have new events.
    let didCommit: @Sendable ([ProcessorAttempt]) -> Void

    /// Resumes a payment with a payment method.
    func resume(
        _ id: TransactionID,
        by paymentMethod: PaymentMethod,
        trace: TraceContext
    ) async throws -> ResumptionReply {
        let (reply, attempt) = try await context.client.withTransaction { connection in
            let time = context.now()
            guard let failed = try connection.read(TransactionStore.locking([id]))[id] else {
                return (ResumptionReply.unknown, ProcessorAttempt?.none)
            }
            var period: TransactionPeriod?
            switch try verdict(on: failed, by: paymentMethod, on: connection) {
            case .resumed(let transaction): return (.resumed(transaction), nil)
            case .notInterrupted: return (.notInterrupted(failed.transaction), nil)
            case .refused(let refusal): return (.refused(refusal), nil)
            case .resume(let resumed): period = resumed
            }
            let acceptance = try accept(
                failed,
                period,
                by: paymentMethod,
                trace,
                at: time,
                on: connection
            )
            // An attempt that waits for another transaction is not carried out yet.
            let attempt = acceptance.attempt.flatMap { $0.step == .calling ? $0 : nil }
            return (.resumed(acceptance.record.transaction), attempt)
        }
        if case .resumed = reply { didCommit([attempt].compactMap { $0 }) }
        return reply
    }

    /// Reads what the rules need, and asks them.
    private func verdict(
        on failed: TransactionRecord,
        by paymentMethod: PaymentMethod,
        on connection: isolated PostgresConnection
    ) throws -> ResumptionRules.Verdict {
        let (key, productID) = (failed.accountKey, failed.transaction.productID)
        let resumption = try ResumptionStore.find(failed.transaction.id, on: connection)
        let product = try connection.read(products.load([productID]))[productID]
        return ResumptionRules.verdict(
            on: failed.transaction,
            resumedBy: try resumption.flatMap {
                try TransactionStore.load([$0], on: connection)[$0]?.transaction
            },
            paymentMethod: paymentMethod,
            account: try connection.read(AccountStore.standings(of: [key]))[key]
                ?? AccountStanding(),
            product: product,
            methodRefusal: processor.refusal(of: paymentMethod),
            period: try period(of: product, for: failed.transaction, on: connection)
        )
    }

    /// The period of a subscription that the payment would pay for today.
    ///
    /// The subscription is only read: the outcome of the charge decides under its lock.
    private func period(
        of product: Product?,
        for failed: Transaction,
        on connection: isolated PostgresConnection
    ) throws -> Result<TransactionPeriod?, PaymentRefusal> {
        guard let product, let key = SubscriptionKey(of: failed) else { return .success(nil) }
        let row = try connection.read(SubscriptionStore.reading([key])).first
        return SubscriptionRules.period(
            of: product,
            meeting: row?.subscription,
            at: context.now(),
            by: context.subscriptions.dueActions
        )
    }

    private func accept(
        _ failed: TransactionRecord,
        _ period: TransactionPeriod?,
        by paymentMethod: PaymentMethod,
        _ trace: TraceContext,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> Acceptance {
        let id = try TransactionStore.nextID(on: connection)
        let record = TransactionRecord(
            transaction: PaymentRules.resumed(
                id: id,
                failed: failed.transaction,
                period: period,
                time: time
            ),
            taxBasisPoints: failed.taxBasisPoints,
            traceparent: trace
        )
        var acceptance = Acceptance(
            of: record,
            by: paymentMethod,
            drawing: context.ids,
            at: time,
            leaseEnd: context.leaseEnd
        )
        acceptance.resumes = failed.transaction.id
        try ResumptionStore.insert(id, after: failed.transaction.id, at: time, on: connection)
        let writer = AcceptanceWriter(context: context)
        return try writer.write([acceptance], at: time, on: connection).first ?? acceptance
    }
}
