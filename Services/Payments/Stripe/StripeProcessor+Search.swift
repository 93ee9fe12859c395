import EventTypes
import Logging
import Stripe

/// Looks for attempts that the books have lost, in the lists of their buyers.
extension StripeProcessor {
    /// The most pauses for one page of a long list, and the longest of them.
    ///
    /// An account that is away asks for longer ones, and then nobody waits.
    private static let pausesMax = 10
    private static let pauseMax = Duration.seconds(5)

    func search(_ searches: [PeriodSearch], answer: @escaping Answer<PeriodFinding>) async {
        await withBuyers(
            of: searches,
            by: { $0.paymentMethod },
            orElse: { answer($0.attemptID, .unavailable) },
            ask: { answer($0.attemptID, await find($0, of: $1)) }
        )
    }

    private func find(_ search: PeriodSearch, of customer: String?) async -> PeriodFinding {
        guard let customer else {
            // What is no card of Stripe's is not charged there.
            guard lane(of: search.paymentMethod) != nil else { return .nothing }
            logger.error(
                "A payment method is not in the table of saved ones; nothing can be looked for",
                metadata: ["attempt": "\(search.attemptID)"]
            )
            return .unavailable
        }
        do throws(StripeFailure) {
            let tries = try await gate.pass(.inquiries) { () async throws(StripeFailure) in
                try await client.paymentIntents(ofCustomer: customer, calledFrom: search.since) {
                    Self.attempt(of: $0).map(search.matches) ?? false
                }
            }
            guard let found = chosen(tries), let id = Self.attempt(of: found) else {
                return .nothing
            }
            guard let refunds = try await lostRefunds(of: found) else { return .unavailable }
            try await hand(found, to: search.transactionID)
            return .found(id, refunds: refunds)
        } catch {
            return .unavailable
        }
    }

    /// Looks for lost attempts that no inquiry would find, because they are not in the lists of their cards'
    /// buyers.
    ///
    /// - Parameters:
    ///   - searches: The searches.
    ///   - customer: The buyer here whose payments are listed; `nil` for those of all buyers.
    ///   - pageSize: The number of payments in a page.
    /// - Returns: The payments that were found, by the attempts that search; `nil` if Stripe does not answer.
    func strays(
        _ searches: [StraySearch],
        of customer: String?,
        pageSize: Int = StripeListRequest.limitMax
    ) async -> [AttemptID: String]? {
        guard let since = searches.map(\.search.since).min() else { return [:] }
        // A buyer whom the books have lost is no older than the gap.
        let start = max(since, now().advanced(by: .zero - BookMemory.reach))
        var request = StripeListRequest(
            from: start.advanced(by: .seconds(-3600)),
            limit: pageSize
        )
        var found: [AttemptID: String] = [:]
        do throws(StripeFailure) {
            while true {
                let page = try await patientPage(of: customer, request)
                for payment in page.data where mayCharge(payment) {
                    guard let id = Self.attempt(of: payment) else { continue }
                    for search in searches where search.matches(id, of: payment.customer?.id) {
                        found[search.search.attemptID] = payment.id
                    }
                }
                guard page.hasMore, let last = page.data.last else { return found }
                request.after = last.id
            }
        } catch {
            return nil
        }
    }

    /// Reads a page of payments, and waits a few times if Stripe takes no calls at this moment.
    ///
    /// A long list would otherwise be read from its beginning again, and never to its end by a busy store.
    private func patientPage(
        of customer: String?,
        _ request: StripeListRequest
    ) async throws(StripeFailure) -> StripePage<StripePaymentIntent> {
        var pauses = 0
        while true {
            do throws(StripeFailure) {
                return try await gate.pass(.inquiries) { () async throws(StripeFailure) in
                    try await client.paymentIntents(ofCustomer: customer, request)
                }
            } catch {
                guard case .throttled(let wait) = error.kind else { throw error }
                let pause = wait ?? Self.pause
                guard pauses < Self.pausesMax, pause <= Self.pauseMax, !Task.isCancelled else {
                    throw error
                }
                pauses += 1
                // When cancelled, the next failure ends it.
                try? await Task.sleep(for: pause)
            }
        }
    }

    /// Finds what was given back of a payment, or is on its way back.
    ///
    /// - Parameter payment: The payment.
    /// - Returns: Its refunds, oldest first; `nil` if an amount cannot be read.
    /// - Throws: `StripeFailure`.
    private func lostRefunds(
        of payment: StripePaymentIntent
    ) async throws(StripeFailure) -> [LostRefund]? {
        guard payment.status == .succeeded else { return [] }
        var lost: [LostRefund] = []
        for refund in try await refunds(of: payment.id) {
            if case .failed = Self.outcome(of: refund) { continue }
            let amount: Money
            do throws(ProcessorAmountError) {
                amount = try ProcessorAmount(wire: refund.amount, currency: refund.currency).money()
            } catch {
                logger.error(
                    "A refund of a lost charge cannot be read; its renewal waits",
                    metadata: ["stripe.refund": "\(refund.id)", "error": "\(error)"]
                )
                return nil
            }
            let texts = refund.metadata ?? [:]
            lost.append(
                LostRefund(
                    id: Self.attempt(in: texts),
                    generation: texts["key"].flatMap { CallKey.generation(in: $0) } ?? 1,
                    reference: ProcessorReference(rawValue: refund.id),
                    charge: ProcessorReference(rawValue: payment.id),
                    amount: amount
                )
            )
        }
        return lost
    }

    /// The attempt that the texts of a payment name.
    private static func attempt(of payment: StripePaymentIntent) -> AttemptID? {
        attempt(in: payment.metadata)
    }

    private static func attempt(in texts: [String: String]) -> AttemptID? {
        texts["attempt"].flatMap { EventID($0) }.map { AttemptID(bytes: $0.bytes) }
    }

    /// The newest payment that has charged the buyer, or else the newest one that still may.
    ///
    /// A charge before it was given back, or there would be no later one.
    private func chosen(_ payments: [StripePaymentIntent]) -> StripePaymentIntent? {
        payments.last { $0.status == .succeeded } ?? payments.last { mayCharge($0) }
    }

    /// Whether a payment has charged its buyer, or still may.
    private func mayCharge(_ payment: StripePaymentIntent) -> Bool {
        if case .canceled = StripeReading(payment, at: now()) { false } else { true }
    }

    /// Has a payment name the transaction that it belongs to now.
    ///
    /// What Stripe tells of it later, such as a dispute, names that transaction.
    private func hand(
        _ payment: StripePaymentIntent,
        to transaction: TransactionID
    ) async throws(StripeFailure) {
        guard payment.metadata["transaction"] != transaction.rawValue else { return }
        // Writing the same text twice does nothing, so each call may have a key of its own.
        let key = StripeIdempotencyKey(
            attempt: payment.id,
            kind: .update,
            generation: Int(now().millisecondsSinceEpoch)
        )
        _ = try await gate.pass(.inquiries) { () async throws(StripeFailure) in
            try await client.updatePaymentIntent(
                payment.id,
                metadata: ["transaction": transaction.rawValue],
                key: key
            )
        }
    }
}
