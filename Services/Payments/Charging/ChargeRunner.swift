import EventTypes
import Logging
import Messaging
import Metrics
import ServiceKit
import ServiceLifecycle
import StoreTracing
import Synchronization

/// Carries out attempts: calls the processor in batches and commits its answers.
///
/// New attempts come from memory right after their commit. All others are found in the database
/// when they fall due: after a killed process, a lost answer, an unavailable processor or an
/// expired approval. The runner inquires about such an attempt before it calls the processor again,
/// so it never retries an unknown outcome blindly.
final class ChargeRunner: Service {
    /// The limits of concurrent work.
    struct Limits: Sendable {
        var batchSizeMax = 256
        /// The most batches in flight at each account, for methods that answer at once and for slow ones.
        var promptCallsMax = 2
        var slowCallsMax = 4
        /// The most batches of renewals in flight: one is charged while another is settled.
        var renewalCallsMax = 2
        /// The most attempts that wait in memory, for each lane.
        var queueMax = 20_000
        /// The most batches that each worker leaves to themselves, and the time after which it does.
        ///
        /// With several accounts, so many batches of inquiries at each of them take long at most. There is
        /// room for one in any case, or none would ever be made.
        var stragglersMax = 8
        var patience = Duration.seconds(1)

        /// The most batches of a lane in flight at each account.
        func callsMax(of lane: ChargeLane) -> Int {
            switch lane {
            case .prompt: promptCallsMax
            case .slow: slowCallsMax
            case .renewals: renewalCallsMax
            }
        }
    }

    let processor: any PaymentProcessor
    let context: PaymentsContext
    let handler: OutcomeHandler
    let limits: Limits
    /// The attempts as they come; with several accounts they are sorted from here.
    let queues: [ChargeLane: AttemptQueue]
    /// The lanes of each of the merchant's accounts at the processor.
    let accounts: [AccountLanes]
    /// The charges of renewals that are under way.
    let renewals = RenewalLoad()
    /// The transactions whose attempts could not be read, or whose outcomes could not be committed.
    let failed = FailedWork<TransactionID>(of: "attempts")
    /// The attempts for which this process searches at this moment.
    let searching = Mutex<Set<AttemptID>>([])
    private let signal = Signal()
    /// The newest attempts that did not fit into the queues.
    private let rejected = Mutex<[AttemptKey]>([])
    private let overflow: OccasionalWarning
    private let didCommit: @Sendable () -> Void
    private let lookInterval: Duration
    private let overflowed = Counter(label: "processor_queue_overflows")
    /// The attempts that fell due, without those for which an account has no room yet.
    let recovered = Counter(label: "processor_attempts_recovered")

    /// Makes a runner.
    ///
    /// - Parameters:
    ///   - processor: The processor to call.
    ///   - context: The context of the service.
    ///   - limits: The limits of concurrent work.
    ///   - lookInterval: The time between its own looks for attempts that are due; a quarter of a lease
    ///     unless somebody else looks for them.
    ///   - didCommit: Called after each commit that may have appended events.
    init(
        processor: any PaymentProcessor,
        context: PaymentsContext,
        limits: Limits = Limits(),
        lookInterval: Duration? = nil,
        didCommit: @escaping @Sendable () -> Void = {}
    ) {
        self.processor = processor
        self.context = context
        handler = OutcomeHandler(context: context)
        self.limits = limits
        self.lookInterval = lookInterval ?? context.policy.lease / 4
        self.didCommit = didCommit
        overflow = OccasionalWarning(
            "More attempts than the queue holds; the rest is taken from the database later",
            counting: "attempts",
            logger: context.logger
        )
        let queues = AccountLanes.queues(countMax: limits.queueMax)
        self.queues = queues
        let names = processor.accountNames
        accounts = names.map { name in
            AccountLanes(
                account: name,
                queues: names.count > 1 ? AccountLanes.queues(countMax: limits.queueMax) : queues,
                inquiries: Stragglers(
                    countMax: max(limits.stragglersMax, 1),
                    patience: limits.patience
                )
            )
        }
    }

    /// Queues attempts that were just committed.
    ///
    /// Never waits. Attempts that do not fit are found in the database when their lease ends, and are
    /// called then without an inquiry.
    func offer(_ attempts: [ProcessorAttempt]) {
        guard !attempts.isEmpty else { return }
        var rejected: [AttemptKey] = []
        for (lane, attempts) in Dictionary(grouping: attempts, by: lane(of:)) {
            let left = queues[lane]?.append(attempts) ?? attempts.count
            if lane == .renewals {
                renewals.began(attempts.count - left)
            } else if attempts.contains(where: { $0.kind == .charge }) {
                renewals.noteBuyers()
            }
            rejected += attempts.suffix(left).map(\.key)
        }
        reject(rejected)
    }

    /// Leaves attempts that did not fit into a queue to the database.
    ///
    /// A queue stays full for a while, so it warns every ten seconds at most.
    func reject(_ keys: [AttemptKey]) {
        guard !keys.isEmpty else { return }
        overflowed.increment(by: keys.count)
        rejected.withLock { $0 = Array(($0 + keys).suffix(limits.queueMax)) }
        overflow.warn(count: keys.count)
    }

    /// Looks for due attempts at once, because there are some or the store's clock was moved.
    func wake() { signal.send() }

    /// Carries out attempts until graceful shutdown, and then those that are still queued.
    func run() async throws {
        await withGracefulShutdownHandler {
            await withTaskCancellationHandler {
                await withDiscardingTaskGroup { group in
                    for lane in ChargeLane.allCases {
                        for queue in accounts.compactMap({ $0.queues[lane] }) {
                            for _ in 0..<limits.callsMax(of: lane) {
                                group.addTask { await self.work(lane, on: queue) }
                            }
                        }
                        if hasSeveralAccounts { group.addTask { await self.sort(lane) } }
                    }
                    group.addTask {
                        await cancelWhenGracefulShutdown { await self.recoverForEver() }
                    }
                    group.addTask {
                        await cancelWhenGracefulShutdown { await self.keepQueuedForEver() }
                    }
                }
            } onCancel: {
                closeQueues()
            }
        } onGracefulShutdown: {
            self.closeQueues()
        }
    }

    private func lane(of attempt: ProcessorAttempt) -> ChargeLane {
        guard attempt.kind == .charge else { return .prompt }
        let lane = processor.lane(of: attempt.paymentMethod) ?? .prompt
        let isAwaited = !attempt.isRenewal || attempt.isBuyerPresent
        return lane == .prompt && !isAwaited ? .renewals : lane
    }

    private func closeQueues() {
        for queue in queues.values { queue.close() }
    }

    private func work(_ lane: ChargeLane, on queue: AttemptQueue) async {
        // Buyers wait for these attempts, so the loop rests no longer than it works.
        var pace = Pace(restPerWork: 1)
        let stragglers = Stragglers(countMax: limits.stragglersMax, patience: limits.patience)
        await withDiscardingTaskGroup { group in
            while true {
                // The clock of an advance waits for the last renewals of a step, so nobody is idle then.
                let batch = await queue.next(batchSizeMax(of: lane), isShared: lane == .renewals)
                guard !batch.isEmpty else { return }
                let start = ContinuousClock.now
                pace.begin()
                await stragglers.carryOut(in: &group) {
                    // An attempt whose lease ended in the queue belongs to the process that finds it
                    // due. If both carried it out, it would still be charged once, but requested
                    // twice.
                    let time = self.context.machineNow()
                    await self.carryOut(batch.filter { $0.dueAt ?? time > time })
                    if lane == .renewals { self.renewals.carriedOut(batch.count) }
                }
                // When cancelled, the loop carries out queued attempts without resting.
                if lane == .renewals {
                    let rest = restOfRenewals(after: ContinuousClock.now - start)
                    if rest > .zero { try? await Task.sleep(for: rest) }
                } else if batch.count < limits.batchSizeMax {
                    try? await pace.rest(afterBatchOf: batch.count)
                }
            }
        }
    }

    /// The most attempts of a lane that are carried out together at this moment.
    ///
    /// A thousand renewals may have been begun when a buyer comes. They are charged a few at a time then.
    func batchSizeMax(of lane: ChargeLane) -> Int {
        guard lane == .renewals else { return limits.batchSizeMax }
        return min(limits.batchSizeMax, renewals.pace().batchSizeMax)
    }

    /// The rest of a worker that has charged renewals, while somebody buys.
    ///
    /// The workers share the time that renewals have, so each rests for all of them. Those of an account
    /// without renewals use none of it.
    func restOfRenewals(after work: Duration) -> Duration {
        let busy = max(accounts.count { ($0.queues[.renewals]?.count ?? 0) > 0 }, 1)
        return renewals.pace().rest(after: work * (limits.renewalCallsMax * busy))
    }

    /// Keeps the attempts that wait in memory, and notes of those that did not fit that the processor
    /// was not called for them.
    ///
    /// So an attempt that only waits for its turn is not inquired about, neither here nor by another
    /// process.
    func keepQueued() async throws {
        let halfOver = context.machineNow().advanced(by: context.policy.lease / 2)
        for queue in allQueues {
            let keys = queue.leases(endingBy: halfOver)
            guard !keys.isEmpty else { continue }
            let leaseEnd = context.leaseEnd
            queue.renew(try await handler.renewLeases(of: keys, until: leaseEnd), until: leaseEnd)
        }
        let keys = rejected.withLock { rejected in
            defer { rejected = [] }
            return rejected
        }
        guard !keys.isEmpty else { return }
        try await handler.noteUncalled(keys)
    }

    /// Keeps what waits in memory, however long the inquiries of the recovery take.
    private func keepQueuedForEver() async {
        await repeatForEver(orWarn: "Leases could not be renewed; they are renewed again") {
            try await keepQueued()
        } pause: {
            try await Task.sleep(for: context.policy.lease / 4)
        }
    }

    private func recoverForEver() async {
        await withDiscardingTaskGroup { group in
            await repeatForEver(
                orWarn: "Attempts that are due could not be read; they are read again"
            ) {
                while try await recover(in: &group) >= limits.batchSizeMax {}
            } pause: {
                try await signal.wait(atMost: lookInterval)
            }
        }
    }

    /// Repeats work until the task is cancelled, whatever fails.
    private func repeatForEver(
        orWarn warning: Logger.Message,
        _ work: () async throws -> Void,
        pause: () async throws -> Void
    ) async {
        while !Task.isCancelled {
            do { try await work() } catch is CancellationError { return } catch {
                context.logger.warning(warning, metadata: ["error": "\(error)"])
            }
            // When cancelled, the loop ends.
            try? await pause()
        }
    }

    /// Commits outcomes.
    ///
    /// If a batch fails with an error that is not retriable, its outcomes are committed one by one,
    /// so that a bad outcome does not stop the others. It is left alone for a while, and then inquired
    /// about.
    func commit(_ results: [AttemptResult], from start: UInt64) async {
        guard !results.isEmpty else { return }
        var failures = 0
        while true {
            do {
                goOn(after: try await handler.settle(results, from: start))
                return
            } catch let error where isRetriable(error) && failures < 100 && !Task.isCancelled {
                failures += 1
                context.logger.warning(
                    "Outcomes could not be committed yet",
                    metadata: ["error": "\(error)", "outcomes": "\(results.count)"]
                )
                // When cancelled, the next round gives up.
                try? await Task.sleep(for: context.policy.pause(afterCalls: min(failures, 6)))
            } catch {
                if results.count == 1, RowError.matches(error) {
                    leaveAlone(results[0].key.transactionID, error)
                    return
                }
                guard results.count > 1, !isRetriable(error) else {
                    context.logger.error(
                        "Outcomes were not committed; they are inquired about later",
                        metadata: [
                            "error": "\(error)",
                            "transaction.id": "\(results[0].key.transactionID)",
                            "outcomes": "\(results.count)",
                        ]
                    )
                    return
                }
                for result in results { await commit([result], from: start) }
                return
            }
        }
    }

    /// Does what remains after a commit of outcomes.
    func goOn(after report: OutcomeReport) {
        count(report)
        didCommit()
        follow(report)
    }

    private func follow(_ report: OutcomeReport) {
        offer(report.followUps)
        guard let due = report.nextDue else { return }
        let delay = max(due.duration(since: context.machineNow()), .zero)
        Task { [signal] in
            // An early signal costs a needless query; a lost one delays the next query.
            try? await Task.sleep(for: delay)
            signal.send()
        }
    }

    /// Counts events by type and by reason of failure.
    ///
    /// Payments that the buyer cancelled are thus counted apart from those that failed (spec rule
    /// 37).
    private func count(_ report: OutcomeReport) {
        for (move, count) in report.moves {
            Counter(
                label: "transactions_moved",
                dimensions: [
                    ("event", move.type.rawValue), ("reason", move.reason?.rawValue ?? "none"),
                ]
            ).increment(by: count)
        }
    }

    private func isRetriable(_ error: any Error) -> Bool {
        OutcomeHandler.isRetriable(error)
    }
}
