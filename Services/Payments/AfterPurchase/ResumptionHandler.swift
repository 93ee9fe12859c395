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
            // The lock of a subscription comes before those of its transactions.
            let (rows, records) = try connection.read(
                SubscriptionStore.locking(of: [id]),
                TransactionStore.locking([id])
            )
            guard let failed = records[id] else {
                return (ResumptionReply.unknown, ProcessorAttempt?.none)
            }
            var books = SubscriptionBooks(context.subscriptions, at: time)
            books.take(rows)
            var period: TransactionPeriod?
            switch try verdict(on: failed, in: books, by: paymentMethod, on: connection) {
            case .resumed(let transaction): return (.resumed(transaction), nil)
            case .notInterrupted: return (.notInterrupted(failed.transaction), nil)
            case .refused(let refusal): return (.refused(refusal), nil)
            case .resume(let resumed): period = resumed
            }
            let acceptance = try accept(
                failed,
                period,
                in: &books,
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
        in books: SubscriptionBooks,
        by paymentMethod: PaymentMethod,
        on connection: isolated PostgresConnection
    ) throws -> ResumptionRules.Verdict {
        let (key, productID) = (failed.accountKey, failed.transaction.productID)
        let resumption = try ResumptionStore.find(failed.transaction.id, on: connection)
        let product = try connection.read(products.load([productID], at: books.time))[productID]
        let offer = product.flatMap {
            introductoryOffer(of: $0, for: failed.transaction, in: books)
        }
        let methods = SavedMethods(
            byAccount: processor.hasSavedMethods
                ? try connection.read(
                    PaymentMethodStore.saved(by: [key], at: processor.account(of:))
                ) : nil
        )
        return ResumptionRules.verdict(
            on: failed.transaction,
            resumedBy: try resumption.flatMap {
                try TransactionStore.load([$0], on: connection)[$0]?.transaction
            },
            paymentMethod: paymentMethod,
            account: try connection.read(AccountStore.standings(of: [key]))[key]
                ?? AccountStanding(),
            product: product,
            methodRefusal: processor.refusal(of: paymentMethod)
                ?? methods.refusal(of: paymentMethod, from: key),
            offer: offer,
            period: period(of: product, for: failed.transaction, by: offer, in: books)
        )
    }

    /// The period of a subscription that the payment would pay for today.
    private func period(
        of product: Product?,
        for failed: Transaction,
        by offer: PeriodOffer?,
        in books: SubscriptionBooks
    ) -> Result<TransactionPeriod?, PaymentRefusal> {
        guard let product, let key = SubscriptionKey(of: failed) else { return .success(nil) }
        return SubscriptionRules.period(
            of: product,
            meeting: books.rows[key]?.subscription,
            at: books.time,
            by: context.subscriptions.dueActions,
            offer: offer,
            renewingAt: product.prices[failed.storefront]
        )
    }

    /// The introductory offer of a payment that was accepted with one, if the account may have it
    /// still.
    private func introductoryOffer(
        of product: Product,
        for failed: Transaction,
        in books: SubscriptionBooks
    ) -> PeriodOffer? {
        guard failed.subscription?.beginsIntroductoryOffer == true,
            let key = SubscriptionKey(of: failed), books.mayHaveIntroductoryOffer(key)
        else { return nil }
        return SubscriptionRules.introductoryOffer(of: product, in: failed.storefront)
    }

    private func accept(
        _ failed: TransactionRecord,
        _ period: TransactionPeriod?,
        in books: inout SubscriptionBooks,
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
        books.introduce(by: record.transaction)
        try SubscriptionStore.saveIntroductions(books.introducedRows, on: connection)
        try ResumptionStore.insert(id, after: failed.transaction.id, at: time, on: connection)
        let writer = AcceptanceWriter(context: context)
        return try writer.write([acceptance], at: time, on: connection).first ?? acceptance
    }
}
