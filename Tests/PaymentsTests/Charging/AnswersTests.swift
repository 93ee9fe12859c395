import EventTypes
import Logging
import StoreAPI
import Synchronization
import TestSupport
import Testing

@testable import Payments

/// A processor that answers the attempts of some methods, or inquiries, only when it is told to.
private final class HeldProcessor: PaymentProcessor {
    private let held: Set<PaymentMethod>
    private let holdsInquiries: Bool
    private let state = Mutex((isReleased: false, waiting: [CheckedContinuation<Void, Never>]()))

    init(holding held: Set<PaymentMethod> = [], inquiries: Bool = false) {
        self.held = held
        holdsInquiries = inquiries
    }

    /// Whether something waits to be told.
    var isHolding: Bool { state.withLock { !$0.waiting.isEmpty } }

    func release() {
        let waiting = state.withLock { state in
            state.isReleased = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func lane(of paymentMethod: PaymentMethod) -> ChargeLane? { .prompt }

    func asksForApproval(_ paymentMethod: PaymentMethod) -> Bool { false }

    func charge(_ requests: [ChargeRequest], answer: @escaping Answer<ChargeOutcome>) async {
        for request in requests where !held.contains(request.paymentMethod) {
            answer(request.attemptID, .charged(reference: "prompt", amount: request.amount))
        }
        let late = requests.filter { held.contains($0.paymentMethod) }
        guard !late.isEmpty else { return }
        await hold()
        for request in late {
            answer(request.attemptID, .charged(reference: "late", amount: request.amount))
        }
    }

    private func hold() async {
        await withCheckedContinuation { continuation in
            let isReleased = state.withLock { state in
                if !state.isReleased { state.waiting.append(continuation) }
                return state.isReleased
            }
            if isReleased { continuation.resume() }
        }
    }

    func inquire(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async {
        if holdsInquiries { await hold() }
        for inquiry in inquiries { answer(inquiry.attemptID, .unavailable) }
    }

    func search(_ searches: [PeriodSearch], answer: @escaping Answer<PeriodFinding>) async {
        for search in searches { answer(search.attemptID, .nothing) }
    }

    func cancel(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async {}

    func refund(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async {}

    func reverse(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async {}
}

/// The processor answers one by one.
@Suite(.timeLimit(.minutes(10))) struct AnswersTests {
    private let slow = SandboxPaymentMethod.slow

    @Test func aSlowCallHoldsUpNoneOfItsBatch() async throws {
        try await withStore { store in
            let processor = HeldProcessor(holding: [slow.method])
            let runner = ChargeRunner(processor: processor, context: store.context)
            let late = try await store.add(request(method: slow), key: "late")
            let prompt = try await store.add(request(), key: "prompt")
            async let work: Void = runner.carryOut(store.pending.take())
            try await eventually("the prompt one is purchased") {
                try await store.load(prompt.id).state == .purchased ? true : nil
            }
            #expect(try await store.load(late.id).state == .purchasing)
            processor.release()
            await work
            #expect(try await store.load(late.id).state == .purchased)
        }
    }

    @Test func aSlowCallHoldsUpNoBatchAfterItsOwn() async throws {
        try await withStore { store in
            let processor = HeldProcessor(holding: [slow.method])
            var limits = ChargeRunner.Limits()
            limits.promptCallsMax = 1
            limits.patience = .milliseconds(20)
            let runner = ChargeRunner(
                processor: processor,
                context: store.context,
                limits: limits
            )
            let running = Task { try await runner.run() }
            let late = try await store.add(request(method: slow), key: "late")
            runner.offer(store.pending.take())
            try await eventually("the late one is taken") {
                runner.queues[.prompt]?.count == 0 ? true : nil
            }
            let prompt = try await store.add(request(), key: "prompt")
            runner.offer(store.pending.take())
            try await eventually("the prompt one is purchased") {
                try await store.load(prompt.id).state == .purchased ? true : nil
            }
            #expect(try await store.load(late.id).state == .purchasing)
            processor.release()
            try await eventually("the late one is purchased") {
                try await store.load(late.id).state == .purchased ? true : nil
            }
            running.cancel()
            try await running.value
        }
    }

    @Test func aSlowInquiryEndsNoLeaseOfWhatWaits() async throws {
        let lease = Duration.milliseconds(400)
        try await withStore(policy: AttemptPolicy(lease: lease)) { store in
            let processor = HeldProcessor(inquiries: true)
            var limits = ChargeRunner.Limits()
            // Nobody takes what waits.
            limits.promptCallsMax = 0
            let runner = ChargeRunner(
                processor: processor,
                context: store.context,
                limits: limits
            )
            try await store.add(request(), key: "lost")
            _ = store.pending.take()
            store.clock.advance(by: lease * 2)
            let running = Task { try await runner.run() }
            try await eventually("the inquiry is under way") {
                processor.isHolding ? true : nil
            }
            let waiting = try await store.add(request(), key: "waiting")
            runner.offer(store.pending.take())
            let queued = try await store.attempt(of: waiting.id)
            let leaseEnd = try #require(queued.dueAt)
            store.clock.advance(by: lease * 3 / 4)
            try await eventually("the lease is renewed") {
                let renewed = try await store.attempt(of: waiting.id).dueAt ?? leaseEnd
                return renewed > leaseEnd ? true : nil
            }
            processor.release()
            running.cancel()
            try await running.value
        }
    }

    @Test func answersOfOneMomentAreTakenTogether() async {
        let answers = AnswerGatherer<Int>(expecting: 3, pause: .seconds(60))
        answers.add(1)
        answers.add(2)
        answers.add(3)
        #expect(await answers.next() == [1, 2, 3])
        #expect(await answers.next() == nil)
    }

    @Test func anAnswerThatIsMissingEndsWithItsBatch() async {
        let answers = AnswerGatherer<Int>(expecting: 2, pause: .milliseconds(1))
        answers.add(1)
        #expect(await answers.next() == [1])
        answers.end()
        #expect(await answers.next() == nil)
    }

    @Test func onlyAFewBatchesAreLeftToThemselves() async {
        let stragglers = Stragglers(countMax: 1, patience: .milliseconds(1))
        let open = Mutex<[CheckedContinuation<Void, Never>]>([])
        let second = Mutex(false)
        await withDiscardingTaskGroup { group in
            await stragglers.carryOut(in: &group) {
                await withCheckedContinuation { continuation in
                    open.withLock { $0.append(continuation) }
                }
            }
            await stragglers.carryOut(in: &group) {
                for _ in 0..<100 { await Task.yield() }
                second.withLock { $0 = true }
            }
            // There was no room for it beside the first, so it was waited for.
            let hasEnded = second.withLock { $0 }
            #expect(hasEnded)
            open.withLock { $0 }.forEach { $0.resume() }
        }
    }
}
