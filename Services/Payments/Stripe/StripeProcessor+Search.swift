import EventTypes
import Logging
import Stripe

/// Looks for attempts that the books have lost, in the lists of their buyers.
extension StripeProcessor {
    func search(_ searches: [PeriodSearch], answer: @escaping Answer<PeriodFinding>) async {
        guard let buyers = await buyers(searches.map(\.paymentMethod)) else {
            for search in searches { answer(search.attemptID, .unavailable) }
            return
        }
        await withDiscardingTaskGroup { group in
            for search in searches {
                group.addTask {
                    answer(
                        search.attemptID,
                        await find(search, of: buyers[search.paymentMethod]?.reference)
                    )
                }
            }
        }
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
            try await hand(found, to: search.transactionID)
            return .found(id)
        } catch {
            return .unavailable
        }
    }

    /// The attempt that the texts of a payment name.
    private static func attempt(of payment: StripePaymentIntent) -> AttemptID? {
        payment.metadata["attempt"].flatMap { EventID($0) }.map { AttemptID(bytes: $0.bytes) }
    }

    /// The newest payment that has charged the buyer, or else the newest one that still may.
    ///
    /// A charge before it was given back, or there would be no later one.
    private func chosen(_ payments: [StripePaymentIntent]) -> StripePaymentIntent? {
        let open = payments.last { payment in
            if case .canceled = StripeReading(payment, at: now()) { false } else { true }
        }
        return payments.last { $0.status == .succeeded } ?? open
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
