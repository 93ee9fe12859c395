import EventTypes
import StoreAPI
import Synchronization

@testable import Payments

/// The sandbox processor with injected faults, which counts its calls.
final class FaultyProcessor: PaymentProcessor {
    let sandbox: SandboxProcessor
    private let state = Mutex(
        (lostAnswers: 0, charges: 0, inquiries: 0, searches: 0, generations: [Int]())
    )
    private let forgets = Mutex(false)
    private let finding = Mutex<PeriodFinding?>(nil)
    private let advice = Mutex<DeclineAdvice?>(nil)
    private let workOfSearch = Mutex<(@Sendable () async -> Void)?>(nil)

    init(_ sandbox: SandboxProcessor) { self.sandbox = sandbox }

    var chargesAsked: Int { state.withLock { $0.charges } }
    /// The generations of the keys of charges.
    var generationsAsked: [Int] { state.withLock { $0.generations } }
    var inquiriesAsked: Int { state.withLock { $0.inquiries } }
    var searchesAsked: Int { state.withLock { $0.searches } }
    /// Knows of nothing any more that it is told to end.
    func forgetWhatItEnds() { forgets.withLock { $0 = true } }
    /// Answers searches from now on in one way; `nil` for what the sandbox finds.
    func answerSearches(_ answer: PeriodFinding?) { finding.withLock { $0 = answer } }
    /// Does something during the next search.
    func duringNextSearch(_ work: @escaping @Sendable () async -> Void) {
        workOfSearch.withLock { $0 = work }
    }
    /// Gives advice with each decline that inquiries find from now on.
    func advise(_ advice: DeclineAdvice) { self.advice.withLock { $0 = advice } }
    func loseAnswers(_ count: Int) { state.withLock { $0.lostAnswers = count } }

    func lane(of paymentMethod: PaymentMethod) -> ChargeLane? { sandbox.lane(of: paymentMethod) }

    func asksForApproval(_ paymentMethod: PaymentMethod) -> Bool {
        sandbox.asksForApproval(paymentMethod)
    }

    func charge(_ requests: [ChargeRequest], answer: @escaping Answer<ChargeOutcome>) async {
        let losesAnswers = state.withLock { state in
            state.charges += requests.count
            state.generations += requests.map(\.key.generation)
            guard state.lostAnswers > 0 else { return false }
            state.lostAnswers -= 1
            return true
        }
        await sandbox.charge(requests) { answer($0, losesAnswers ? .unknown(reference: nil) : $1) }
    }

    func inquire(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async {
        state.withLock { $0.inquiries += inquiries.count }
        let advice = self.advice.withLock { $0 }
        await sandbox.inquire(inquiries) { id, outcome in
            if let advice, case .declined(let reason, _) = outcome {
                answer(id, .declined(reason, advice: advice))
            } else {
                answer(id, outcome)
            }
        }
    }

    func search(_ searches: [PeriodSearch], answer: @escaping Answer<PeriodFinding>) async {
        state.withLock { $0.searches += searches.count }
        let work = workOfSearch.withLock { work in
            defer { work = nil }
            return work
        }
        await work?()
        guard let finding = self.finding.withLock({ $0 }) else {
            return await sandbox.search(searches, answer: answer)
        }
        for search in searches { answer(search.attemptID, finding) }
    }

    func cancel(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async {
        guard forgets.withLock({ $0 }) else {
            return await sandbox.cancel(inquiries, answer: answer)
        }
        for inquiry in inquiries { answer(inquiry.attemptID, .notFound(isFinal: true)) }
    }

    func refund(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async {
        await sandbox.refund(calls, answer: answer)
    }

    func reverse(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async {
        await sandbox.reverse(calls, answer: answer)
    }
}

extension PaymentProcessor {
    /// The outcomes of refunds, in the order of the calls.
    func outcomes(ofRefunding calls: [UndoCall]) async -> [UndoOutcome] {
        await outcomes(calls, refund)
    }

    /// The outcomes of reversals, in the order of the calls.
    func outcomes(ofReversing calls: [UndoCall]) async -> [UndoOutcome] {
        await outcomes(calls, reverse)
    }

    private func outcomes(
        _ calls: [UndoCall],
        _ call: ([UndoCall], @escaping Answer<UndoOutcome>) async -> Void
    ) async -> [UndoOutcome] {
        let outcomes = Mutex<[AttemptID: UndoOutcome]>([:])
        await call(calls) { id, outcome in outcomes.withLock { $0[id] = outcome } }
        let known = outcomes.withLock { $0 }
        return calls.compactMap { known[$0.attemptID] }
    }
}
