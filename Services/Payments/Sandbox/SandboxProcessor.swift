import EventTypes
import Logging
import StoreAPI

/// The built-in processor of the sandbox, which moves no money.
///
/// It behaves as the name of the payment method says. It keeps its own books, so its charges
/// survive any crash of `payments`.
struct SandboxProcessor: PaymentProcessor {
    let store: SandboxStore
    /// The time that a slow method takes.
    let slowness: Duration
    let logger: Logger

    /// The number of times a flaky method refuses before it charges.
    private static let flakyRefusals = 2
    /// The number of times ``SandboxPaymentMethod/renewalRecovers`` declines a renewal: as often as it
    /// is tried before the period ends.
    private static let lostRenewalTries = 4
    private static let prefix = "sandbox-"

    /// The sandbox's own id of what it did for an attempt.
    static func reference(of id: AttemptID) -> ProcessorReference {
        ProcessorReference(rawValue: prefix + id.description)
    }

    func lane(of paymentMethod: PaymentMethod) -> ChargeLane? {
        guard let method = SandboxPaymentMethod(paymentMethod) else { return nil }
        return method == .slow ? .slow : .prompt
    }

    func asksForApproval(_ paymentMethod: PaymentMethod) -> Bool {
        paymentMethod == SandboxPaymentMethod.needsApproval.method
    }

    func charge(_ requests: [ChargeRequest], answer: @escaping Answer<ChargeOutcome>) async {
        let lanes = Dictionary(grouping: requests) { lane(of: $0.paymentMethod) ?? .prompt }
        await record(lanes[.prompt] ?? [], answer)
        guard let slow = lanes[.slow] else { return }
        // When a shutdown cancels the pause, the method charges at once.
        try? await Task.sleep(for: slowness)
        await record(slow, answer)
    }

    /// Writes requests into the books and answers them.
    private func record(_ requests: [ChargeRequest], _ answer: Answer<ChargeOutcome>) async {
        do {
            let calls = try await flakyCalls(requests)
            let decisions = requests.map { ($0, decide($0, calls: calls[$0.attemptID] ?? 0)) }
            try await store.record(decisions.compactMap(\.1.0))
            for (request, decision) in decisions { answer(request.attemptID, decision.1) }
        } catch {
            // The commit may have succeeded, with only its answer lost.
            logger.warning("The sandbox's books cannot be reached", metadata: ["error": "\(error)"])
            for request in requests { answer(request.attemptID, .unknown) }
        }
    }

    func inquire(_ attempts: [AttemptID], answer: @escaping Answer<InquiryOutcome>) async {
        do {
            let found = try await store.find(attempts)
            for attempt in attempts { answer(attempt, found[attempt] ?? .notFound) }
        } catch {
            logger.warning("The sandbox's books cannot be reached", metadata: ["error": "\(error)"])
            for attempt in attempts { answer(attempt, .unavailable) }
        }
    }

    func refund(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async {
        await undo(calls, in: store.refund, answer)
    }

    func reverse(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async {
        await undo(calls, in: store.reverse, answer)
    }

    /// Records calls whose reference is one of the sandbox's own.
    private func undo(
        _ calls: [UndoCall],
        in books: ([SandboxStore.Return]) async throws -> Set<AttemptID>,
        _ answer: Answer<UndoOutcome>
    ) async {
        let known = calls.compactMap { call in
            call.undoes.flatMap(Self.attempt(named:)).map {
                SandboxStore.Return(id: call.attemptID, of: $0, amount: call.amount)
            }
        }
        do {
            let recorded = try await books(known)
            for id in calls.map(\.attemptID) {
                answer(
                    id,
                    recorded.contains(id)
                        ? .undone(reference: Self.reference(of: id)) : .unavailable
                )
            }
        } catch {
            logger.warning("The sandbox's books cannot be reached", metadata: ["error": "\(error)"])
            for call in calls { answer(call.attemptID, .unknown) }
        }
    }

    /// Decides what a payment method records in the books and answers.
    private func decide(
        _ request: ChargeRequest,
        calls: Int
    ) -> (SandboxStore.Charge?, ChargeOutcome) {
        var charge = SandboxStore.Charge(
            id: request.attemptID,
            paymentMethod: request.paymentMethod,
            amount: request.amount
        )
        let charged = ChargeOutcome.charged(reference: Self.reference(of: request.attemptID))
        switch SandboxPaymentMethod(request.paymentMethod) {
        case .success, .slow:
            return (charge, charged)
        case .renewalDeclined where request.renewalTry != nil:
            charge.declineReason = .paymentDeclined
        case .renewalRecovers where (1...Self.lostRenewalTries).contains(request.renewalTry ?? 0):
            charge.declineReason = .insufficientFunds
        case .renewalDeclined, .renewalRecovers:
            return (charge, charged)
        case .decline, nil:
            charge.declineReason = .paymentDeclined
        case .insufficientFunds:
            charge.declineReason = .insufficientFunds
        case .cancelled:
            charge.declineReason = .paymentCancelled
        case .interrupted:
            charge.declineReason = .interrupted
        case .needsApproval:
            return request.isApproved ? (charge, charged) : (nil, .needsApproval)
        case .unknownCharged:
            return (charge, .unknown)
        case .unknownNotCharged:
            return (nil, .unknown)
        case .flaky:
            return calls > Self.flakyRefusals ? (charge, charged) : (nil, .unavailable)
        }
        return (charge, .declined(charge.declineReason ?? .paymentDeclined))
    }

    private func flakyCalls(_ requests: [ChargeRequest]) async throws -> [AttemptID: Int] {
        let flaky = requests.filter { $0.paymentMethod == SandboxPaymentMethod.flaky.method }
        guard !flaky.isEmpty else { return [:] }
        return try await store.countCalls(flaky.map(\.attemptID))
    }

    private static func attempt(named reference: ProcessorReference) -> AttemptID? {
        let name = reference.rawValue
        guard name.hasPrefix(prefix) else { return nil }
        return EventID(name.dropFirst(prefix.count)).map { AttemptID(bytes: $0.bytes) }
    }
}
