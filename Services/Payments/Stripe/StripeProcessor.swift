import EventTypes
import Logging
import StoreAPI
import Stripe

/// Stripe, which charges cards that buyers have saved there.
///
/// It keeps nothing: the attempts are the store's, and what was done is asked of Stripe.
struct StripeProcessor: PaymentProcessor {
    let client: StripeClient
    let gate: StripeGate
    /// Finds the buyers to whom payment methods belong.
    let customers: @Sendable ([PaymentMethod]) async throws -> [PaymentMethod: ProcessorBuyer]
    /// Finds those methods by which no renewal is charged.
    let unusable: @Sendable ([PaymentMethod]) async throws -> Set<PaymentMethod>
    /// The addresses to which buyers come back from the bank's page.
    let returnURLs: ReturnURLs
    let now: @Sendable () -> MachineTime
    let logger: Logger
    let spentKeys = SpentKeys()

    /// The pause before a call that could not be made because of the store itself.
    static let pause = Duration.seconds(1)
    /// The pause before a request is repeated that Stripe takes for a mistake of the store.
    static let mistakePause = Duration.seconds(60)

    var hasSavedMethods: Bool { true }

    func lane(of paymentMethod: PaymentMethod) -> ChargeLane? {
        paymentMethod.rawValue.hasPrefix("pm_") ? .prompt : nil
    }

    func asksForApproval(_ paymentMethod: PaymentMethod) -> Bool { false }

    func charge(_ requests: [ChargeRequest], answer: @escaping Answer<ChargeOutcome>) async {
        // A call that may have charged is repeated, and its key tells what it did.
        let renewals = requests.filter { $0.renewalTry != nil && !$0.isRepeated }
            .map(\.paymentMethod)
        guard let buyers = await buyers(requests.map(\.paymentMethod)),
            let unusable = await unusable(among: renewals)
        else {
            for request in requests {
                answer(request.attemptID, .throttled(retryAfter: Self.pause))
            }
            return
        }
        await withDiscardingTaskGroup { group in
            for request in requests {
                // No bank is asked again for what it has refused for good.
                if request.renewalTry != nil, !request.isRepeated,
                    unusable.contains(request.paymentMethod)
                {
                    answer(request.attemptID, .declined(.paymentDeclined, advice: .never))
                    continue
                }
                group.addTask {
                    answer(
                        request.attemptID,
                        await charge(request, of: buyers[request.paymentMethod])
                    )
                }
            }
        }
    }

    func inquire(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async {
        await look(inquiries, answer) { await outcome(of: $0) }
    }

    func cancel(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async {
        await look(inquiries, answer) { intent in
            switch StripeReading(intent, at: now()) {
            case .asks: await giveUp(intent.id, for: nil)
            default: await outcome(of: intent)
            }
        }
    }

    func refund(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async {
        await withDiscardingTaskGroup { group in
            for call in calls {
                group.addTask { answer(call.attemptID, await refund(call)) }
            }
        }
    }

    /// Stripe cannot take a refund back.
    func reverse(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async {
        for call in calls { answer(call.attemptID, .failed(.processorRefused)) }
    }

    /// The buyers to whom payment methods belong; `nil` if the database does not answer.
    func buyers(_ methods: [PaymentMethod]) async -> [PaymentMethod: ProcessorBuyer]? {
        do {
            return try await customers(Array(Set(methods)))
        } catch {
            logger.warning(
                "Payment methods cannot be read; nothing was asked of Stripe",
                metadata: ["error": "\(error)"]
            )
            return nil
        }
    }

    /// Those methods by which no renewal is charged; `nil` if the database does not answer.
    private func unusable(among methods: [PaymentMethod]) async -> Set<PaymentMethod>? {
        do { return try await unusable(methods) } catch {
            logger.warning(
                "Payment methods cannot be read; nothing was asked of Stripe",
                metadata: ["error": "\(error)"]
            )
            return nil
        }
    }

    // MARK: - Charges

    private func charge(
        _ request: ChargeRequest,
        of buyer: ProcessorBuyer?
    ) async -> ChargeOutcome {
        guard let buyer else {
            logger.error(
                "A payment method is not in the table of saved ones; it is not charged",
                metadata: ["attempt": "\(request.attemptID)"]
            )
            // A payment was accepted only with a saved method, so the table has been lost.
            guard lane(of: request.paymentMethod) == nil else {
                return .throttled(retryAfter: Self.mistakePause)
            }
            return .declined(.paymentDeclined, advice: .otherMethod)
        }
        let amount: ProcessorAmount
        do throws(ProcessorAmountError) {
            amount = try ProcessorAmount(request.amount)
            try amount.checkMinimum()
        } catch {
            logger.error(
                "Stripe cannot charge a price; correct it in the catalog",
                metadata: ["attempt": "\(request.attemptID)", "error": "\(error)"]
            )
            return .declined(.processorRefused, advice: nil)
        }
        let isAway = request.isBuyerAway
        let payment = PaymentIntentRequest(
            amount: amount,
            customer: buyer.reference,
            paymentMethod: request.paymentMethod.rawValue,
            session: isAway ? .away : .present(returnURL: returnURLs.of(buyer.app)),
            metadata: Self.metadata(of: request.key, request.transactionID)
        )
        do throws(StripeFailure) {
            let intent = try await gate.pass(isAway ? .renewals : .buyers) {
                () async throws(StripeFailure) in
                try await client.createPaymentIntent(payment, key: Self.key(of: request.key))
            }
            return Self.outcome(await outcome(of: intent), of: intent.id)
        } catch {
            return await outcome(of: error, under: request.key)
        }
    }

    /// The outcome of a charge whose call has failed.
    private func outcome(of failure: StripeFailure, under key: CallKey) async -> ChargeOutcome {
        let id = failure.error?.paymentIntent?.id
        switch failure.kind {
        case .declined(let reason, let advice):
            guard let id else { return .declined(reason, advice: advice) }
            let decline = StripeDecline(reason: reason, advice: advice)
            return Self.outcome(await giveUp(id, for: decline), of: id)
        case .throttled(let pause): return .throttled(retryAfter: pause ?? Self.pause)
        case .unknown, .keyMisused:
            note(failure, under: key)
            return .unknown(reference: id.map { ProcessorReference(rawValue: $0) })
        // The calls did nothing, and no payment fails for a mistake of the store.
        case .accessRefused: return .throttled(retryAfter: StripeGate.refusalPause)
        case .missing where failure.error?.parameter == "customer":
            logger.error(
                "Stripe has no buyer to whom a saved payment method belongs",
                metadata: ["attempt": "\(key.attemptID)", "failure": "\(failure)"]
            )
            return .declined(.paymentDeclined, advice: .otherMethod)
        case .mistaken, .missing, .stateForbids:
            logger.error(
                "Stripe refuses a charge because of a mistake of the store; it waits",
                metadata: ["attempt": "\(key.attemptID)", "failure": "\(failure)"]
            )
            return .throttled(retryAfter: Self.mistakePause)
        }
    }

    /// The outcome of a charge whose payment is known.
    private static func outcome(_ found: InquiryOutcome, of id: String) -> ChargeOutcome {
        let reference = ProcessorReference(rawValue: id)
        return switch found {
        case .charged(let reference, let amount): .charged(reference: reference, amount: amount)
        case .declined(let reason, let advice): .declined(reason, advice: advice)
        case .needsAction(let action, let reference): .needsAction(action, reference: reference)
        case .pending(let reference): .processing(reference: reference)
        case .cancelled: .declined(.interrupted, advice: nil)
        case .refunded, .reversed, .failed, .notFound, .unavailable: .unknown(reference: reference)
        }
    }

    /// Notes the keys under which nothing will ever be done.
    func note(_ failure: StripeFailure, under key: CallKey) {
        if failure.kind == .unknown, failure.isReplayed { spentKeys.insert(key, at: now()) }
    }

    // MARK: - Keys

    /// The texts by which what was done for an attempt is found again.
    static func metadata(of key: CallKey, _ transaction: TransactionID?) -> [String: String] {
        var texts = ["attempt": "\(key.attemptID)", "key": "\(key)"]
        texts["transaction"] = transaction?.rawValue
        return texts
    }

    static func key(of key: CallKey) -> StripeIdempotencyKey {
        StripeIdempotencyKey(
            attempt: "\(key.attemptID)",
            kind: key.kind == .charge ? .charge : .refund,
            generation: key.generation
        )
    }

    /// Whether nothing will be done any more under a key under which nothing was done.
    func isFinal(_ inquiry: Inquiry) -> Bool {
        guard !spentKeys.isFinal(inquiry.key, at: now()) else { return true }
        guard let first = inquiry.firstCalledAt else { return false }
        return !StripeIdempotencyKey.isSafe(firstCalled: first, now: now())
    }
}
