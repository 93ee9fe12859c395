import EventTypes
import Logging
import StoreAPI
import Stripe

/// Finds out what Stripe did, and gives up what was not paid.
extension StripeProcessor {
    /// Looks attempts up, and answers each.
    ///
    /// - Parameters:
    ///   - inquiries: The attempts.
    ///   - answer: Takes the outcomes.
    ///   - judge: Decides about the payment of a charge.
    func look(
        _ inquiries: [Inquiry],
        _ answer: @escaping Answer<InquiryOutcome>,
        _ judge: @escaping @Sendable (StripePaymentIntent) async -> InquiryOutcome
    ) async {
        await withBuyers(
            of: inquiries,
            by: { $0.paymentMethod },
            orElse: { answer($0.attemptID, .unavailable) },
            ask: { answer($0.attemptID, await look($0, of: $1, judge)) }
        )
    }

    /// Asks about calls at the same time, each with the buyer at Stripe who has its card.
    ///
    /// - Parameters:
    ///   - calls: The calls.
    ///   - method: The payment method of a call.
    ///   - fail: Answers a call if the buyers cannot be read.
    ///   - ask: Asks about a call; the buyer is `nil` if the books do not know one.
    func withBuyers<Call: Sendable>(
        of calls: [Call],
        by method: (Call) -> PaymentMethod,
        orElse fail: (Call) -> Void,
        ask: @escaping @Sendable (Call, String?) async -> Void
    ) async {
        guard let buyers = await buyers(calls.map(method)) else { return calls.forEach(fail) }
        await withDiscardingTaskGroup { group in
            for call in calls {
                let customer = buyers[method(call)]?.reference
                group.addTask { await ask(call, customer) }
            }
        }
    }

    private func look(
        _ inquiry: Inquiry,
        of customer: String?,
        _ judge: @Sendable (StripePaymentIntent) async -> InquiryOutcome
    ) async -> InquiryOutcome {
        switch inquiry.key.kind {
        case .charge:
            do throws(StripeFailure) {
                guard let intent = try await payment(of: inquiry, by: customer) else {
                    return .notFound(isFinal: isFinal(inquiry))
                }
                return found(await judge(intent), under: intent.metadata["key"], for: inquiry)
            } catch {
                return .unavailable
            }
        case .refund: return await lookForRefund(inquiry)
        case .reversal: return .failed(.processorRefused)
        }
    }

    /// The outcome of an object at Stripe, for an attempt that is called for under a key.
    ///
    /// An object of an earlier generation of the key says nothing about the present one, unless it
    /// moved money, or was taken as the outcome.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the object.
    ///   - key: The key under which it was made, by its own texts.
    ///   - inquiry: The inquiry.
    /// - Returns: The outcome, or that nothing was found.
    func found(
        _ outcome: InquiryOutcome,
        under key: String?,
        for inquiry: Inquiry
    ) -> InquiryOutcome {
        guard let key, key != "\(inquiry.key)" else { return outcome }
        return switch outcome {
        case .charged, .refunded, .unavailable: outcome
        case .failed where inquiry.isOfSettled: outcome
        default: .notFound(isFinal: isFinal(inquiry))
        }
    }

    /// Finds the payment of an attempt: by its id, or in the list of its buyer.
    private func payment(
        of inquiry: Inquiry,
        by customer: String?
    ) async throws(StripeFailure) -> StripePaymentIntent? {
        if let reference = inquiry.reference {
            return try await gate.pass(.inquiries) { () async throws(StripeFailure) in
                try await client.paymentIntent(reference.rawValue)
            }
        }
        guard let customer else {
            logger.error(
                "A payment method is not in the table of saved ones; its payment cannot be looked for",
                metadata: ["attempt": "\(inquiry.attemptID)"]
            )
            throw StripeFailure(.missing)
        }
        let found = try await gate.pass(.inquiries) { () async throws(StripeFailure) in
            try await client.paymentIntents(
                ofAttempt: "\(inquiry.attemptID)",
                customer: customer,
                firstCalled: inquiry.firstCalledAt ?? MachineTime(millisecondsSinceEpoch: 0)
            )
        }
        return found.first { $0.status == .succeeded } ?? found.last
    }

    /// The outcome of a payment, which is given up if it was not paid.
    func outcome(of intent: StripePaymentIntent) async -> InquiryOutcome {
        let reference = ProcessorReference(rawValue: intent.id)
        switch StripeReading(intent, at: now()) {
        case .paid(let amount): return .charged(reference: reference, amount: amount)
        case .processing: return .pending(reference: reference)
        case .asks(let action): return .needsAction(action, reference: reference)
        case .open(let decline): return await giveUp(intent.id, for: decline)
        case .canceled(let decline): return decline?.outcome ?? .cancelled
        case .strange:
            logger.error(
                "A payment at Stripe is in a state that the store does not expect; look at it",
                metadata: ["stripe.payment": "\(intent.id)"]
            )
            return .unavailable
        }
    }

    /// Gives a payment up, because it could still be confirmed otherwise.
    ///
    /// - Parameters:
    ///   - id: The payment.
    ///   - decline: The reason why it was not paid, if there is one.
    /// - Returns: The decline, once the payment is certainly given up; or what has become of it.
    func giveUp(_ id: String, for decline: StripeDecline?) async -> InquiryOutcome {
        // Giving up twice does nothing, so each call may have a key of its own.
        let key = StripeIdempotencyKey(
            attempt: id,
            kind: .cancel,
            generation: Int(now().millisecondsSinceEpoch)
        )
        do throws(StripeFailure) {
            let intent = try await gate.pass(.inquiries) { () async throws(StripeFailure) in
                try await client.cancelPaymentIntent(id, key: key)
            }
            return intent.status == .canceled ? decline?.outcome ?? .cancelled : .unavailable
        } catch {
            guard error.kind == .stateForbids else { return .unavailable }
        }
        // It was paid meanwhile, is being processed, or was given up before.
        do throws(StripeFailure) {
            let intent = try await gate.pass(.inquiries) { () async throws(StripeFailure) in
                try await client.paymentIntent(id)
            }
            let reference = ProcessorReference(rawValue: id)
            return switch StripeReading(intent, at: now()) {
            case .paid(let amount): .charged(reference: reference, amount: amount)
            case .processing: .pending(reference: reference)
            case .canceled(let own): (own ?? decline)?.outcome ?? .cancelled
            case .asks, .open, .strange: .unavailable
            }
        } catch {
            return .unavailable
        }
    }
}
