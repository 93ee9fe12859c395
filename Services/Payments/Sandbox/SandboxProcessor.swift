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

    /// The number of times a method that counts its calls refuses before it charges.
    static let refusals = 2
    /// The number of times ``SandboxPaymentMethod/renewalRecovers`` declines a renewal: as often as it
    /// is tried before the period ends.
    static let lostRenewalTries = 4
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
        guard !requests.isEmpty else { return }
        do {
            let calls = try await countedCalls(requests)
            let decisions = requests.map { ($0, decide($0, calls: calls[$0.attemptID] ?? 0)) }
            try await store.record(decisions.compactMap(\.1.charge))
            try await store.openCalls.open(decisions.compactMap(\.1.open), for: slowness)
            for (request, decision) in decisions { answer(request.attemptID, decision.outcome) }
        } catch {
            // The commit may have succeeded, with only its answer lost.
            logger.warning("The sandbox's books cannot be reached", metadata: ["error": "\(error)"])
            for request in requests { answer(request.attemptID, .unknown(reference: nil)) }
        }
    }

    func inquire(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async {
        await find(inquiries, answer) { inquiries in
            if inquiries.contains(where: { Self.takesTime($0.paymentMethod) }) {
                try await store.openCalls.decideWhatIsDue(inquiries.map(\.attemptID))
            }
        }
    }

    func search(_ searches: [PeriodSearch], answer: @escaping Answer<PeriodFinding>) async {
        do {
            let found = try await PeriodSearchStore(books: store).find(searches)
            for search in searches {
                answer(search.attemptID, found[search.attemptID] ?? .nothing)
            }
        } catch {
            logger.warning("The sandbox's books cannot be reached", metadata: ["error": "\(error)"])
            for search in searches { answer(search.attemptID, .unavailable) }
        }
    }

    func cancel(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async {
        await find(inquiries, answer) { try await store.openCalls.cancel($0.map(\.attemptID)) }
    }

    /// Looks attempts up in the books, after a change of them.
    private func find(
        _ inquiries: [Inquiry],
        _ answer: Answer<InquiryOutcome>,
        after change: ([Inquiry]) async throws -> Void
    ) async {
        do {
            try await change(inquiries)
            let found = try await store.find(inquiries.map(\.attemptID))
            for inquiry in inquiries {
                answer(
                    inquiry.attemptID,
                    found[inquiry.attemptID] ?? .notFound(isFinal: Self.isFinal(inquiry))
                )
            }
        } catch {
            logger.warning("The sandbox's books cannot be reached", metadata: ["error": "\(error)"])
            for inquiry in inquiries { answer(inquiry.attemptID, .unavailable) }
        }
    }

    /// Whether nothing can be done any more under a key under which nothing was done.
    private static func isFinal(_ inquiry: Inquiry) -> Bool {
        guard inquiry.key.kind == .charge else { return false }
        return switch SandboxPaymentMethod(inquiry.paymentMethod) {
        // The processor keeps its error under the first key.
        case .storedError: inquiry.key.generation == 1
        case .unknownNotCharged: true
        default: false
        }
    }

    /// Whether the books may have to be brought up to date before a look at them.
    private static func takesTime(_ paymentMethod: PaymentMethod) -> Bool {
        switch SandboxPaymentMethod(paymentMethod) {
        case .processing, .refundPending: true
        default: false
        }
    }

    func refund(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async {
        let methods: [AttemptID: SandboxPaymentMethod]
        let late: [UndoCall]
        do {
            methods = try await store.methods(of: calls.compactMap(Self.origin(of:)))
            late = calls.filter { Self.origin(of: $0).flatMap { methods[$0] } == .refundPending }
            try await store.openCalls.open(late.compactMap(Self.undo), for: slowness)
        } catch {
            logger.warning("The sandbox's books cannot be reached", metadata: ["error": "\(error)"])
            for call in calls { answer(call.attemptID, .unknown) }
            return
        }
        for call in late {
            answer(call.attemptID, .pending(reference: Self.reference(of: call.attemptID)))
        }
        let failed = calls.filter { Self.origin(of: $0).flatMap { methods[$0] } == .refundFailed }
        for call in failed { answer(call.attemptID, .failed(.processorRefused)) }
        let others = calls.filter { !late.contains($0) && !failed.contains($0) }
        await undo(others, in: store.refund, answer)
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
        guard !calls.isEmpty else { return }
        do {
            let recorded = try await books(calls.compactMap(Self.undo))
            let missing = calls.filter { !recorded.contains($0.attemptID) }
            let disputed = try await store.disputed(among: missing.compactMap(Self.origin(of:)))
            for id in recorded { answer(id, .undone(reference: Self.reference(of: id))) }
            for call in missing {
                // As Stripe refunds nothing that a bank has taken.
                let isDisputed = Self.origin(of: call).map(disputed.contains) ?? false
                answer(call.attemptID, isDisputed ? .failed(.processorRefused) : .unavailable)
            }
        } catch {
            logger.warning("The sandbox's books cannot be reached", metadata: ["error": "\(error)"])
            for call in calls { answer(call.attemptID, .unknown) }
        }
    }

    /// The charge that a call refunds, or the refund that it reverses, if it is one of the sandbox's.
    private static func origin(of call: UndoCall) -> AttemptID? {
        call.undoes.flatMap(attempt(named:))
    }

    private static func undo(_ call: UndoCall) -> SandboxStore.Return? {
        origin(of: call).map {
            SandboxStore.Return(id: call.attemptID, of: $0, amount: call.amount)
        }
    }

    private static func attempt(named reference: ProcessorReference) -> AttemptID? {
        let name = reference.rawValue
        guard name.hasPrefix(prefix) else { return nil }
        return EventID(name.dropFirst(prefix.count)).map { AttemptID(bytes: $0.bytes) }
    }
}
