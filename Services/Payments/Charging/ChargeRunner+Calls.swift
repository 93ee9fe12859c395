import EventTypes
import Logging
import Metrics
import StoreTracing

/// Calls the processor.
extension ChargeRunner {
    /// Calls the processor for attempts and commits its answers.
    ///
    /// Each answer is committed as soon as it is known, together with those of the same moment.
    /// Retriable errors of the database are retried. If the runner gives up, the attempts are found
    /// again when their lease ends, and so are those that got no answer.
    func carryOut(_ attempts: [ProcessorAttempt]) async {
        let start = context.spans.start
        let answers = AnswerGatherer<AttemptResult>(expecting: attempts.count)
        await withDiscardingTaskGroup { group in
            group.addTask {
                await self.call(attempts, answers)
                answers.end()
            }
            while let results = await answers.next() {
                await commit(results, from: start)
            }
        }
    }

    /// Calls the processor for attempts of all kinds at the same time.
    private func call(_ attempts: [ProcessorAttempt], _ answers: AnswerGatherer<AttemptResult>)
        async
    {
        let asked = Dictionary(attempts.map { ($0.id, $0) }) { first, _ in first }
        @Sendable func add(_ id: AttemptID, _ outcome: (ProcessorAttempt) -> AttemptOutcome) {
            guard let attempt = asked[id] else { return }
            answers.add(
                AttemptResult(
                    key: attempt.key,
                    outcome: outcome(attempt),
                    mayConcernSubscription: attempt.kind != .charge || attempt.renewalTry != nil
                )
            )
        }
        let kinds = Dictionary(grouping: attempts, by: \.kind)
        await withDiscardingTaskGroup { group in
            if let charges = kinds[.charge] {
                group.addTask {
                    await self.processor.charge(charges.map(ChargeRequest.init)) { id, outcome in
                        add(id) { AttemptOutcome(outcome, wasApproved: $0.isApproved) }
                    }
                }
            }
            if let refunds = kinds[.refund] {
                group.addTask {
                    await self.processor.refund(refunds.map(UndoCall.init)) { id, outcome in
                        add(id) { _ in AttemptOutcome(ofRefund: outcome) }
                    }
                }
            }
            if let reversals = kinds[.reversal] {
                group.addTask {
                    await self.processor.reverse(reversals.map(UndoCall.init)) { id, outcome in
                        add(id) { _ in AttemptOutcome(ofReversal: outcome) }
                    }
                }
            }
        }
    }

    /// Takes attempts that are due and inquires about their outcomes.
    ///
    /// - Returns: The number of attempts; if it is the size of a batch or more, there may be others.
    func recover() async throws -> Int {
        let due = try await handler.takeDue(limit: limits.batchSizeMax)
        guard !due.isEmpty else { return 0 }
        Counter(label: "processor_attempts_recovered").increment(by: due.count)
        context.logger.debug("Attempts fell due", metadata: ["attempts": "\(due.count)"])
        let expired = due.filter { $0.step == .awaitingApproval }
        await commit(
            expired.map { AttemptResult(key: $0.key, outcome: .approvalExpired) },
            from: context.spans.start
        )
        await inquire(due.filter { $0.step == .calling })
        return due.count
    }

    /// Inquires about attempts, and goes on with each as soon as its outcome is known.
    private func inquire(_ attempts: [ProcessorAttempt]) async {
        guard !attempts.isEmpty else { return }
        let start = context.spans.start
        let asked = Dictionary(attempts.map { ($0.id, $0) }) { first, _ in first }
        let answers = AnswerGatherer<(ProcessorAttempt, InquiryOutcome)>(expecting: attempts.count)
        await withDiscardingTaskGroup { group in
            group.addTask {
                await self.processor.inquire(attempts.map(\.id)) { id, found in
                    if let attempt = asked[id] { answers.add((attempt, found)) }
                }
                answers.end()
            }
            while let found = await answers.next() {
                await follow(found, from: start)
            }
        }
    }

    /// Commits the outcomes that inquiries report, and has the processor called for the attempts of
    /// which it knows nothing.
    private func follow(
        _ found: [(attempt: ProcessorAttempt, outcome: InquiryOutcome)],
        from start: UInt64
    ) async {
        var results: [AttemptResult] = []
        var callable: [ProcessorAttempt] = []
        for (attempt, outcome) in found {
            if let outcome = self.outcome(of: attempt, outcome) {
                results.append(AttemptResult(key: attempt.key, outcome: outcome))
            } else {
                callable.append(attempt)
            }
        }
        await commit(results, from: start)
        await offerUnlessRefused(callable, from: start)
    }

    /// Has the processor called for attempts that it has not carried out.
    ///
    /// Their accounts may have moved since they were accepted. If that cannot be found out, the
    /// attempts are taken again when their lease ends.
    private func offerUnlessRefused(_ attempts: [ProcessorAttempt], from start: UInt64) async {
        guard !attempts.isEmpty else { return }
        do {
            let refused = try await handler.refusals(of: attempts.filter { $0.kind == .charge })
            await commit(
                refused.map { AttemptResult(key: $0, outcome: .declined($1)) },
                from: start
            )
            offer(attempts.filter { refused[$0.key] == nil })
        } catch {
            context.logger.warning(
                "The accounts of attempts could not be read; the attempts are taken again later",
                metadata: ["error": "\(error)", "attempts": "\(attempts.count)"]
            )
        }
    }

    /// The outcome that an inquiry reports for an attempt; `nil` if the processor may be called
    /// again.
    private func outcome(
        of attempt: ProcessorAttempt,
        _ found: InquiryOutcome
    ) -> AttemptOutcome? {
        switch found {
        case .charged(let reference): .charged(reference: reference)
        case .declined(let reason): .declined(reason)
        case .refunded(let reference): .refunded(reference: reference)
        case .reversed(let reference): .reversed(reference: reference)
        case .unavailable: .tryAgain(wasCalled: false)
        case .notFound: context.policy.isExhausted(attempt) ? .exhausted : nil
        }
    }
}

extension ChargeRequest {
    fileprivate init(_ attempt: ProcessorAttempt) {
        self.init(
            attemptID: attempt.id,
            paymentMethod: attempt.paymentMethod,
            amount: attempt.amount,
            isApproved: attempt.isApproved,
            renewalTry: attempt.isRenewal ? attempt.renewalTry : nil
        )
    }
}

extension UndoCall {
    fileprivate init(_ attempt: ProcessorAttempt) {
        self.init(attemptID: attempt.id, undoes: attempt.undoes, amount: attempt.amount)
    }
}
