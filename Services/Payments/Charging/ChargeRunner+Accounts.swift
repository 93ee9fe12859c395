import Logging

/// The lanes of one of the merchant's accounts at the processor.
///
/// An account that does not answer fills its own lanes, and holds up no other.
struct AccountLanes: Sendable {
    let account: ProcessorAccountName
    /// The attempts that wait for the processor.
    let queues: [ChargeLane: AttemptQueue]
    /// The room for inquiries that take long.
    let inquiries: Stragglers

    /// Makes an empty queue for each lane.
    static func queues(countMax: Int) -> [ChargeLane: AttemptQueue] {
        Dictionary(
            uniqueKeysWithValues: ChargeLane.allCases.map { ($0, AttemptQueue(countMax: countMax)) }
        )
    }
}

/// Keeps the attempts of the merchant's accounts apart.
///
/// It only decides what waits for what. The processor itself finds the account of every call.
extension ChargeRunner {
    var hasSeveralAccounts: Bool { accounts.count > 1 }

    /// All queues in which attempts wait.
    var allQueues: [AttemptQueue] {
        let own = hasSeveralAccounts ? accounts.flatMap { Array($0.queues.values) } : []
        return Array(queues.values) + own
    }

    /// Moves the attempts of a lane into the lanes of their accounts, until its queue is closed.
    ///
    /// It calls no processor, so it is never held up by one.
    func sort(_ lane: ChargeLane) async {
        guard let queue = queues[lane] else { return }
        while true {
            let batch = await queue.next(limits.batchSizeMax)
            guard !batch.isEmpty else { break }
            for (own, sorted) in await byAccount(batch) {
                // An attempt whose lease ended meanwhile belongs to the process that finds it due.
                let time = context.machineNow()
                let attempts = sorted.filter { $0.dueAt ?? time > time }
                let left = own.queues[lane]?.append(attempts) ?? attempts.count
                let gone = sorted.count - attempts.count + left
                if lane == .renewals, gone > 0 { renewals.carriedOut(gone) }
                reject(attempts.suffix(left).map(\.key))
            }
        }
        for own in accounts { own.queues[lane]?.close() }
    }

    /// Takes attempts that are due, and lets each account answer in its own time.
    ///
    /// Inquiries for which an account has no room are made when their attempts' leases end.
    ///
    /// - Parameter group: The tasks of inquiries that take long.
    /// - Returns: The number of attempts; if it is the size of a batch or more, there may be others.
    /// - Throws: `PostgresError`, or `CancellationError`.
    func recover(in group: inout DiscardingTaskGroup) async throws -> Int {
        guard hasSeveralAccounts else { return try await recover() }
        let due = try await takeDue()
        for (own, attempts) in await byAccount(await goOn(with: due)) {
            guard own.inquiries.hasRoom else {
                context.logger.debug(
                    "An account answers no inquiries; they are made later",
                    metadata: [
                        "account": "\(own.account)", "attempts": "\(attempts.count)",
                    ]
                )
                continue
            }
            await own.inquiries.carryOut(in: &group) { await self.ask(about: attempts) }
        }
        return due.count
    }

    /// Divides attempts by the accounts where their payment methods were saved.
    private func byAccount(
        _ attempts: [ProcessorAttempt]
    ) async -> [(own: AccountLanes, attempts: [ProcessorAttempt])] {
        guard !attempts.isEmpty else { return [] }
        let homes = await processor.findHomes(of: Array(Set(attempts.map(\.paymentMethod))))
        let shares = Dictionary(grouping: attempts) { attempt in
            accounts.firstIndex { $0.account == homes[attempt.paymentMethod] } ?? 0
        }
        return shares.map { (own: accounts[$0.key], attempts: $0.value) }
    }
}
