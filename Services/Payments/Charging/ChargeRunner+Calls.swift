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
    ///
    /// Nothing is called for an attempt before the processor was asked for what the books may have lost.
    func carryOut(_ attempts: [ProcessorAttempt]) async {
        guard !attempts.contains(where: \.isDoubtful) else {
            await search(attempts.filter(\.isDoubtful))
            return await carryOut(attempts.filter { !$0.isDoubtful })
        }
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
                    mayConcernSubscription: attempt.kind != .charge || attempt.renewalTry != nil,
                    isOfRenewal: attempt.isRenewal
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
                        add(id) {
                            AttemptOutcome(ofRefund: outcome, generation: $0.generation)
                        }
                    }
                }
            }
            if let reversals = kinds[.reversal] {
                group.addTask {
                    await self.processor.reverse(reversals.map(UndoCall.init)) { id, outcome in
                        add(id) {
                            AttemptOutcome(ofReversal: outcome, generation: $0.generation)
                        }
                    }
                }
            }
        }
    }

    /// Takes attempts that are due and inquires about their outcomes.
    ///
    /// - Returns: The number of attempts; if it is the size of a batch or more, there may be others.
    func recover() async throws -> Int {
        let due = try await takeDue()
        await ask(about: await goOn(with: due))
        return due.count
    }

    /// Goes on with attempts that are due, as far as nothing has to be asked.
    ///
    /// - Returns: The attempts about which the processor has to be asked.
    func goOn(with due: [ProcessorAttempt]) async -> [ProcessorAttempt] {
        guard !due.isEmpty else { return [] }
        context.logger.debug("Attempts fell due", metadata: ["attempts": "\(due.count)"])
        let start = context.spans.start
        let expired = due.filter { $0.step == .awaitingApproval }
        await commit(
            expired.map { AttemptResult(key: $0.key, outcome: .approvalExpired) },
            from: start
        )
        let time = context.machineNow()
        let doubtful = due.filter(\.isDoubtful)
        let certain = due.filter { !$0.isDoubtful }
        let uncalled = certain.filter { $0.step == .calling && $0.isUncalled }
        await giveUp(uncalled.filter { context.policy.givesUp($0, at: time) }, from: start)
        let callable = uncalled.filter { !context.policy.givesUp($0, at: time) }
        await offerUnlessRefused(callable, from: start)
        let open = certain.filter { $0.step.isOpenAtProcessor && !$0.isUncalled } + doubtful
        recovered.increment(by: due.count - open.count)
        return open
    }

    /// Asks the processor what it has done, and has it end what its buyers do not confirm any more.
    func ask(about attempts: [ProcessorAttempt]) async {
        recovered.increment(by: attempts.count)
        let time = context.machineNow()
        let begun = attempts.filter { !$0.isDoubtful }
        let overdue = begun.filter { $0.actionEndsAt.map { $0 <= time } ?? false }
        let known = Set(overdue.map(\.key))
        await inquire(begun.filter { !known.contains($0.key) }) { [processor] in
            await processor.inquire($0, answer: $1)
        }
        await end(overdue)
        await search(attempts.filter(\.isDoubtful))
    }

    /// Has the processor end charges whose buyers do not confirm them any more.
    ///
    /// Only its answer decides: a charge that was confirmed before is a charge.
    func end(_ attempts: [ProcessorAttempt]) async {
        await inquire(attempts) { [processor] inquiries, answer in
            await processor.cancel(inquiries) { id, outcome in
                // The buyer has left, so what never was and never will be is not begun again.
                answer(id, outcome == .notFound(isFinal: true) ? .cancelled : outcome)
            }
        }
    }

    /// Ends payments for which the processor could not be called for too long.
    private func giveUp(_ attempts: [ProcessorAttempt], from start: UInt64) async {
        guard !attempts.isEmpty else { return }
        context.logger.error(
            "The processor took no call for payments for too long; they end as interrupted",
            metadata: ["attempts": "\(attempts.count)"]
        )
        await commit(
            attempts.map { AttemptResult(key: $0.key, outcome: .cancelled) },
            from: start
        )
    }

    /// Inquires about attempts, and goes on with each as soon as its outcome is known.
    ///
    /// - Parameters:
    ///   - attempts: The attempts.
    ///   - ask: Asks the processor, or has it end charges that the buyer has left.
    func inquire(
        _ attempts: [ProcessorAttempt],
        _ ask: @escaping @Sendable ([Inquiry], @escaping Answer<InquiryOutcome>) async -> Void
    ) async {
        guard !attempts.isEmpty else { return }
        let start = context.spans.start
        let asked = Dictionary(attempts.map { ($0.id, $0) }) { first, _ in first }
        let answers = AnswerGatherer<(ProcessorAttempt, InquiryOutcome)>(expecting: attempts.count)
        await withDiscardingTaskGroup { group in
            group.addTask {
                await ask(attempts.map(Inquiry.init)) { id, found in
                    if let attempt = asked[id] { answers.add((attempt, found)) }
                }
                answers.end()
            }
            while let found = await answers.next() {
                await follow(found, from: start)
            }
        }
    }

    /// Commits the result of an inquiry that an event of the processor has caused.
    ///
    /// - Parameters:
    ///   - found: The result of the inquiry.
    ///   - attempt: The attempt, in whatever step it is.
    /// - Throws: `PostgresError`, or an error of what is written, if nothing is committed.
    func settle(_ found: InquiryOutcome, of attempt: ProcessorAttempt) async throws {
        guard case .settle(let outcome) = nextStep(of: attempt, found) else { return }
        let result = AttemptResult(key: attempt.key, outcome: outcome)
        goOn(after: try await handler.settle([result], from: context.spans.start))
    }

    /// Commits the outcomes that inquiries report, and has the processor called for the attempts of
    /// which it knows nothing.
    private func follow(
        _ found: [(attempt: ProcessorAttempt, outcome: InquiryOutcome)],
        from start: UInt64
    ) async {
        var results: [AttemptResult] = []
        var callable: [ProcessorAttempt] = []
        var spent: [ProcessorAttempt] = []
        for (attempt, outcome) in found {
            switch nextStep(of: attempt, outcome) {
            case .settle(let outcome):
                results.append(
                    AttemptResult(
                        key: attempt.key,
                        outcome: attempt.isCertainlyUncalled ? outcome.ofLostTry : outcome
                    )
                )
            case .call:
                var attempt = attempt
                // A card that is refused for good is charged by no first call.
                attempt.isRepeated = !attempt.isCertainlyUncalled
                callable.append(attempt)
            case .callUnderAnotherKey: spent.append(attempt)
            }
        }
        await commit(results, from: start)
        await offerUnlessRefused(callable, from: start)
        let permitted = await unlessRefused(spent, from: start)
        await commit(
            permitted.map { attempt in
                AttemptResult(
                    key: attempt.key,
                    outcome: .keyIsSpent(generation: attempt.generation, step: attempt.step)
                )
            },
            from: start
        )
    }

    /// Has the processor called for attempts that it has not carried out, unless their accounts may no
    /// longer pay for them.
    private func offerUnlessRefused(_ attempts: [ProcessorAttempt], from start: UInt64) async {
        offer(await unlessRefused(attempts, from: start))
    }

    /// Fails the charges that must not be made any more.
    ///
    /// The accounts may have moved since the attempts were accepted. If that cannot be found out, the
    /// attempts are taken again when their lease ends. A broken row among them is left alone for longer,
    /// and holds up no other.
    ///
    /// - Returns: The other attempts.
    private func unlessRefused(
        _ attempts: [ProcessorAttempt],
        from start: UInt64
    ) async -> [ProcessorAttempt] {
        guard let first = attempts.first else { return [] }
        do {
            let refused = try await handler.refusals(of: attempts.filter { $0.kind == .charge })
            await commit(
                refused.map { AttemptResult(key: $0, outcome: .declined($1)) },
                from: start
            )
            return attempts.filter { refused[$0.key] == nil }
        } catch let error where RowError.matches(error) {
            guard attempts.count > 1 else {
                leaveAlone(first.transactionID, error)
                return []
            }
            var permitted: [ProcessorAttempt] = []
            for attempt in attempts {
                permitted += await unlessRefused([attempt], from: start)
            }
            return permitted
        } catch {
            context.logger.warning(
                "The accounts of attempts could not be read; the attempts are taken again later",
                metadata: ["error": "\(error)", "attempts": "\(attempts.count)"]
            )
            return []
        }
    }

    /// Takes attempts that are due.
    ///
    /// If one of them cannot be read, the transactions are taken one after the other.
    ///
    /// - Returns: The attempts.
    /// - Throws: `PostgresError`, or `CancellationError`.
    func takeDue() async throws -> [ProcessorAttempt] {
        let left = failed.current()
        let limit = limits.batchSizeMax
        do {
            return try await handler.takeDue(limit: limit, besides: left)
        } catch let error where RowError.matches(error) {
            var due: [ProcessorAttempt] = []
            for id in try await handler.due(limit: limit, besides: left) {
                do {
                    due += try await handler.takeDue(limit: limit, of: id)
                } catch let error where RowError.matches(error) {
                    leaveAlone(id, error)
                }
            }
            return due
        }
    }

    /// Leaves the attempts of a transaction alone for a while.
    ///
    /// They stay due. Nothing is certain of a charge among them until its row is corrected.
    func leaveAlone(_ id: TransactionID, _ error: any Error) {
        failed.leaveAlone(
            id,
            because: error,
            ["work": "call of the processor", "transaction.id": "\(id)"],
            in: context.logger
        )
    }

    /// The next step of an attempt after an inquiry.
    private enum NextStep {
        case settle(AttemptOutcome)
        /// The processor may be called again.
        case call
        /// Nothing was done under the key, and never will be.
        case callUnderAnotherKey
    }

    private func nextStep(of attempt: ProcessorAttempt, _ found: InquiryOutcome) -> NextStep {
        switch found {
        case .charged(let reference, let amount):
            .settle(.charged(reference: reference, amount: amount))
        case .declined(let reason, let advice): .settle(.declined(reason, advice: advice))
        case .refunded(let reference): .settle(.refunded(reference: reference))
        case .reversed(let reference): .settle(.reversed(reference: reference))
        case .pending(let reference): .settle(.processing(reference: reference))
        case .needsAction(_, let reference): .settle(.needsAction(reference: reference))
        case .cancelled: .settle(.cancelled)
        case .failed(let reason, let reference):
            .settle(
                .undoFailed(reason, generation: attempt.generation, reference: reference)
            )
        case .unavailable: .settle(.tryAgain(wasCalled: false))
        case .notFound(let isFinal)
        where context.policy.fails(attempt, isFinal: isFinal, at: context.machineNow()):
            .settle(.exhausted)
        case .notFound(isFinal: false) where context.policy.isExhausted(attempt):
            .settle(.tryAgain(wasCalled: false))
        case .notFound(isFinal: true): .callUnderAnotherKey
        case .notFound where attempt.step == .calling: .call
        case .notFound: .settle(.tryAgain(wasCalled: false))
        }
    }
}

extension ChargeRequest {
    init(_ attempt: ProcessorAttempt) {
        self.init(
            key: attempt.callKey,
            paymentMethod: attempt.paymentMethod,
            amount: attempt.amount,
            isApproved: attempt.isApproved,
            renewalTry: attempt.isRenewal ? attempt.renewalTry : nil,
            transactionID: attempt.transactionID,
            isRepeated: attempt.isRepeated,
            isBuyerPresent: attempt.isBuyerPresent
        )
    }
}

extension Inquiry {
    init(_ attempt: ProcessorAttempt) {
        self.init(
            key: attempt.callKey,
            reference: attempt.reference,
            undoes: attempt.undoes,
            paymentMethod: attempt.paymentMethod,
            firstCalledAt: attempt.firstCalledAt,
            isOfSettled: attempt.step == .settled
        )
    }
}

extension UndoCall {
    init(_ attempt: ProcessorAttempt) {
        self.init(
            key: attempt.callKey,
            undoes: attempt.undoes,
            paymentMethod: attempt.paymentMethod,
            amount: attempt.amount,
            transactionID: attempt.transactionID
        )
    }
}
