import EventTypes
import Logging
import Metrics
import Synchronization

/// Asks the processor for what the books have lost, before it charges for the same period (rule S524).
extension ChargeRunner {
    /// Searches for lost tries of the periods that attempts charge for, and goes on with each attempt.
    ///
    /// One whose try is found takes its id. Then every attempt is inquired about as any other, so what was
    /// charged is settled, and nothing is charged twice.
    ///
    /// If the database does not answer, the attempts are taken again when their lease ends. So are those whose
    /// search takes longer than a lease; it goes on, and is not made twice at once.
    func search(_ doubted: [ProcessorAttempt]) async {
        let attempts = searching.withLock { searching in
            var begun: [ProcessorAttempt] = []
            for attempt in doubted where searching.insert(attempt.id).inserted {
                begun.append(attempt)
            }
            return begun
        }
        guard !attempts.isEmpty else { return }
        defer { searching.withLock { $0.subtract(attempts.map(\.id)) } }
        let known: Set<AttemptID>
        do { known = try await handler.foundBefore(attempts) } catch {
            return complain(error, attempts.count)
        }
        let asked = Dictionary(attempts.map { ($0.id, $0) }) { first, _ in first }
        let answers = AnswerGatherer<(ProcessorAttempt, PeriodFinding)>(expecting: attempts.count)
        let searches = attempts.compactMap { PeriodSearch($0, besides: known) }
        await withDiscardingTaskGroup { group in
            group.addTask { [processor] in
                await processor.search(searches) { id, finding in
                    if let attempt = asked[id] { answers.add((attempt, finding)) }
                }
                answers.end()
            }
            while let found = await answers.next() {
                await goOn(with: found)
            }
        }
    }

    /// Writes what searches have found, and inquires about the attempts.
    ///
    /// If it cannot be written, the attempts are taken again when their lease ends.
    private func goOn(with found: [(ProcessorAttempt, PeriodFinding)]) async {
        var findings: [(attempt: ProcessorAttempt, lost: AttemptID?, refunds: [LostRefund])] = []
        for (attempt, finding) in found {
            switch finding {
            case .found(let id, let refunds):
                findings.append((attempt: attempt, lost: id, refunds: refunds))
            case .nothing: findings.append((attempt: attempt, lost: nil, refunds: []))
            // It is taken again when its lease ends: a search may be long, and an account may be away for
            // days. A stray charge ends that once a person has given it back.
            case .strayed, .unavailable: break
            }
        }
        do {
            let certain = try await handler.endDoubt(of: findings)
            let lost = findings.count { $0.lost != nil }
            if lost > 0 {
                Counter(label: "processor_attempts_found").increment(by: lost)
                context.logger.notice(
                    "The processor knows charges that were lost with the books; they are taken over",
                    metadata: ["attempts": "\(lost)"]
                )
            }
            for attempts in [certain.charges, certain.refunds] {
                await inquire(attempts) { [processor] in await processor.inquire($0, answer: $1) }
            }
        } catch {
            complain(error, findings.count)
        }
    }

    private func complain(_ error: any Error, _ count: Int) {
        context.logger.warning(
            "Lost charges could not be searched for; they are searched for later",
            metadata: ["error": "\(error)", "attempts": "\(count)"]
        )
    }
}

extension PeriodSearch {
    /// Makes the search of an attempt; `nil` if the attempt is in no doubt.
    init?(_ attempt: ProcessorAttempt, besides known: Set<AttemptID>) {
        guard let since = attempt.doubtedSince else { return nil }
        self.init(
            attemptID: attempt.id,
            transactionID: attempt.transactionID,
            paymentMethod: attempt.paymentMethod,
            since: since,
            known: known
        )
    }
}
