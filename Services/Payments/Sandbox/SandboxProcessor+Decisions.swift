import EventTypes
import StoreAPI

/// Decides what the names of payment methods say.
extension SandboxProcessor {
    /// The entries that a request makes in the books, and its answer.
    struct Decision {
        /// A charge, or a decline, that is final.
        var charge: SandboxStore.Charge?
        /// A charge that is not made yet.
        var open: OpenCallStore.OpenCharge?
        let outcome: ChargeOutcome

        /// Nothing is recorded.
        static func nothing(_ outcome: ChargeOutcome) -> Self { Self(outcome: outcome) }
    }

    /// Decides about a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - calls: The number of calls for the attempt, if its method counts them.
    /// - Returns: The decision.
    func decide(_ request: ChargeRequest, calls: Int) -> Decision {
        switch SandboxPaymentMethod(request.paymentMethod) {
        case .success, .slow, .refundPending, .refundFailed: charge(request)
        case .renewalDeclined where request.renewalTry != nil:
            decline(request, .paymentDeclined, .later)
        case .renewalRecovers where (1...Self.lostRenewalTries).contains(request.renewalTry ?? 0):
            decline(request, .insufficientFunds, .later)
        case .renewalDeclined, .renewalRecovers: charge(request)
        case .decline, nil: decline(request, .paymentDeclined, .otherMethod)
        case .insufficientFunds: decline(request, .insufficientFunds, .later)
        case .cancelled: decline(request, .paymentCancelled)
        case .interrupted: decline(request, .interrupted)
        case .needsApproval: request.isApproved ? charge(request) : .nothing(.needsApproval)
        case .unknownCharged:
            Decision(charge: charge(request).charge, outcome: .unknown(reference: nil))
        case .unknownNotCharged: .nothing(.unknown(reference: nil))
        case .flaky: calls > Self.refusals ? charge(request) : .nothing(.unavailable)
        case .throttled:
            calls > Self.refusals
                ? charge(request) : .nothing(.throttled(retryAfter: .milliseconds(100)))
        case .storedError: request.key.generation > 1 ? charge(request) : .nothing(.unavailable)
        case .wrongAmount:
            charge(
                request,
                Money(
                    minorUnits: request.amount.minorUnits + 1,
                    currency: request.amount.currency
                )
            )
        case .processing: open(request, .processing(reference: reference(request)), waits: false)
        case .needsAction where request.isBuyerAway:
            // The books keep the reason, and not the advice. So an inquiry says the same.
            decline(request, .buyerMustAct, .authenticate)
        case .needsAction:
            open(
                request,
                .needsAction(Self.action(of: request.attemptID), reference: reference(request)),
                waits: true
            )
        }
    }

    /// The page on which the buyer of an attempt acts.
    ///
    /// The sandbox has no page: a decision is sent to this path of `payments`.
    static func action(of id: AttemptID) -> BuyerAction {
        BuyerAction(url: Routes.sandboxAction(id.description))
    }

    /// Counts the calls of methods whose answer depends on it.
    func countedCalls(_ requests: [ChargeRequest]) async throws -> [AttemptID: Int] {
        let counted = requests.filter {
            switch SandboxPaymentMethod($0.paymentMethod) {
            case .flaky, .throttled: true
            default: false
            }
        }
        guard !counted.isEmpty else { return [:] }
        return try await store.countCalls(counted.map(\.attemptID))
    }

    private func charge(_ request: ChargeRequest, _ amount: Money? = nil) -> Decision {
        let amount = amount ?? request.amount
        return Decision(
            charge: SandboxStore.Charge(
                id: request.attemptID,
                paymentMethod: request.paymentMethod,
                amount: amount
            ),
            outcome: .charged(reference: reference(request), amount: amount)
        )
    }

    private func decline(
        _ request: ChargeRequest,
        _ reason: FailureReason,
        _ advice: DeclineAdvice? = nil
    ) -> Decision {
        Decision(
            charge: SandboxStore.Charge(
                id: request.attemptID,
                paymentMethod: request.paymentMethod,
                amount: request.amount,
                declineReason: reason
            ),
            outcome: .declined(reason, advice: advice)
        )
    }

    private func open(
        _ request: ChargeRequest,
        _ outcome: ChargeOutcome,
        waits: Bool
    ) -> Decision {
        Decision(
            open: OpenCallStore.OpenCharge(
                id: request.attemptID,
                paymentMethod: request.paymentMethod,
                amount: request.amount,
                waitsForBuyer: waits
            ),
            outcome: outcome
        )
    }

    private func reference(_ request: ChargeRequest) -> ProcessorReference {
        Self.reference(of: request.attemptID)
    }
}
