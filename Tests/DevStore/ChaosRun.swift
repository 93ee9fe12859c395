import Foundation
import Synchronization
import TestSupport

/// One chaos run: buyers, strikes, healing, silence, audit.
final class ChaosRun: Sendable {
    private let terminal: Terminal
    private let store: StoreHarness
    private let schedule: ChaosSchedule
    private let length: Duration
    private let buyers: ChaosBuyers
    private let merchant = Mutex<WebhookReceiver?>(nil)
    private let strikes = Mutex<[ChaosSchedule.Victim: Int]>([:])
    private let down = Mutex<Set<ChaosSchedule.Victim>>([])
    private let begin = ContinuousClock.now

    init(
        terminal: Terminal,
        store: StoreHarness,
        seed: UInt64,
        length: Duration,
        accounts: Int
    ) {
        self.terminal = terminal
        self.store = store
        self.length = length
        schedule = ChaosSchedule(
            seed: seed,
            length: length,
            processes: store.processes.map(\.name),
            brokers: store.broker.nodes
        )
        buyers = ChaosBuyers(store: store, accounts: accounts, seed: seed)
    }

    /// Runs it.
    func run() async throws -> AuditReport {
        try await terminal.importSampleCatalog(into: store)
        let merchant = try await WebhookReceiver.start()
        // Every fifth delivery is refused once, so that the retries have work.
        merchant.reply { _, count in .status(count % 5 == 4 ? 503 : 200) }
        self.merchant.withLock { $0 = merchant }
        _ = try await store.administrator.put(
            SampleCatalog.gift(deliveredTo: merchant.url),
            as: SampleCatalog.gift
        )
        try await store.waitUntilSellable(SampleCatalog.gift)

        terminal.heading("\(schedule.strikes.count) strikes")
        let following = Task { try await buyers.follow() }
        let buying = Task { try await buyers.buy() }
        defer {
            following.cancel()
            buying.cancel()
        }
        try await strike()
        terminal.heading("Healing")
        buyers.close()
        try await heal()
        try await buying.value
        lap("every payment is answered")
        try await silence()
        following.cancel()
        // A fault that a follower met ends its following, and is the run's.
        if case .failure(let fault as StoreFault) = await following.result { throw fault }
        await merchant.stop()
        return try await audit(merchant)
    }

    private func lap(_ what: String) { terminal.done(what, ContinuousClock.now - begin) }

    private func strike() async throws {
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for strike in schedule.strikes {
                try await Task.sleep(until: start.advanced(by: strike.time))
                guard takeDown(strike.victim) else { continue }
                group.addTask { try await self.carryOut(strike) }
            }
            try await Task.sleep(until: start.advanced(by: length))
            try await group.waitForAll()
        }
    }

    /// Notes that something is down, unless it is already, or another broker is: without a majority
    /// of them there would be nothing left to test.
    private func takeDown(_ victim: ChaosSchedule.Victim) -> Bool {
        down.withLock { down in
            if victim.isBroker, down.contains(where: \.isBroker) { return false }
            return down.insert(victim).inserted
        }
    }

    private func carryOut(_ strike: ChaosSchedule.Strike) async throws {
        defer { down.withLock { _ = $0.remove(strike.victim) } }
        strikes.withLock { $0[strike.victim, default: 0] += 1 }
        let counts = "\(buyers.accepted.count) accepted, \(buyers.finishedCount) finished so far"
        terminal.line(
            String(format: "  %6.1f s  ", seconds(strike.time))
                + terminal.styled("✗ \(strike.victim)", .red)
                + (isAimed(strike) ? " before a commit" : "")
                + " for \(Terminal.describe(strike.downtime))"
                + terminal.styled("   \(counts)", .dim)
        )
        switch strike.victim {
        case .process(let name):
            guard let process = store.processes.first(where: { $0.name == name }) else { return }
            if isAimed(strike) {
                await killBeforeCommit(process)
            } else {
                await process.kill()
            }
            try await Task.sleep(for: strike.downtime)
            try await process.start()
        case .broker(let node):
            await store.broker.kill(node: node)
            try await Task.sleep(for: strike.downtime)
            try await store.broker.restart(node: node, keepingLog: true)
        case .postgres:
            try store.cluster.stop(.immediate)
            try await Task.sleep(for: strike.downtime)
            try await store.cluster.start()
        }
    }

    private func isAimed(_ strike: ChaosSchedule.Strike) -> Bool {
        guard case .process(let name) = strike.victim else { return false }
        return strike.isAimed && proxy(of: name) != nil
    }

    private func proxy(of name: String) -> PostgresProxy? {
        guard let process = store.processes.first(where: { $0.name == name }) else { return nil }
        return StoreService(rawValue: process.service).flatMap { store.postgresProxies[$0] }
    }

    /// Kills a service while the commit of a batch of events is on its way to PostgreSQL, and with
    /// it what was on its way.
    private func killBeforeCommit(_ process: ServiceProcess) async {
        let hold = proxy(of: process.name)?
            .hold(at: .beforeCommit(ofTransactionWith: "INTO inbox"))
        // A consumer that was killed a moment ago is some seconds away from its next batch. If none
        // comes by, it dies wherever it is.
        try? await hold?.reached(within: .seconds(6))
        await process.kill()
        // Another instance of the service may be held, too: that one goes on.
        try? await hold?.dropped(within: .milliseconds(500))
        hold?.release()
    }

    private func seconds(_ time: Duration) -> Double {
        Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
    }

    private func heal() async throws {
        for process in store.processes where !process.isRunning {
            terminal.line("  \(process.name) had ended by itself\n\(process.logTail())", .red)
        }
        try await store.heal()
        lap("everything runs and is ready")
    }

    /// Waits until the buyers have finished everything, and as long as there is progress.
    private func silence() async throws {
        var finished = -1
        var lastProgress = ContinuousClock.now
        var lastTold = lastProgress
        while buyers.finishedCount < buyers.accepted.count {
            let count = buyers.finishedCount
            if count > finished {
                finished = count
                lastProgress = ContinuousClock.now
            }
            // Longer than every lease, backoff and group session there is.
            guard ContinuousClock.now - lastProgress < .seconds(45) else { break }
            if ContinuousClock.now - lastTold >= .seconds(5) {
                lastTold = ContinuousClock.now
                lap("\(count) of \(buyers.accepted.count) are finished so far")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        lap("\(buyers.finishedCount) of \(buyers.accepted.count) are finished")
    }

    private func audit(_ merchant: WebhookReceiver) async throws -> AuditReport {
        terminal.heading("Audit")
        let accepted = buyers.accepted
        let store = store
        // The last finishes are still on their way to receipts and payments.
        let report = try await Auditor(store).audit(
            accepted: accepted,
            within: .seconds(30),
            merchant: merchant
        )
        let strikes = strikes.withLock { $0 }
        terminal.table(
            [["killed", "times"]]
                + strikes.map { ["\($0.key)", "\($0.value)"] }.sorted { $0[0] < $1[0] },
            rightAligned: [1]
        )
        terminal.line()
        let repetitions = buyers.repetitions
        terminal.field("asked again", "\(repetitions.requests) requests")
        terminal.field("streams", "\(repetitions.streams) opened again")
        terminal.field("merchant", "\(merchant.deliveries.count) requests received")
        for (code, count) in buyers.refusals.sorted(by: { $0.key < $1.key }) {
            terminal.field("refused", "\(count) × \(code)")
        }
        terminal.line()
        terminal.show(report)
        return report
    }
}
