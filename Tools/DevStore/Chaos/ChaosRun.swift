import EventTypes
import Foundation
import StoreAPI
import Synchronization
import StoreHarness

/// One chaos run: buyers, faults, recovery, quiet, audit.
final class ChaosRun: Sendable {
    private let terminal: Terminal
    private let store: StoreHarness
    private let schedule: ChaosSchedule
    private let buyers: ChaosBuyers
    private let bank: ChaosBank
    private let strikes: ChaosStrikes
    private let merchant = Mutex<WebhookReceiver?>(nil)
    /// The number of days by which the store's clock was advanced.
    private let days = Mutex(0)
    private let begin = ContinuousClock.now
    /// A time that is longer than every lease, backoff and group session.
    private static let progressLimit = Duration.seconds(45)
    /// The time by which everything must be settled, however much progress there is.
    private static let settlingLimit = Duration.seconds(180)
    /// The days of store time in which a subscription recovers or is given up.
    private static let lastDays = 65

    init(
        terminal: Terminal,
        store: StoreHarness,
        seed: UInt64,
        length: Duration,
        accounts: Int,
        kinds: Set<FaultKind>
    ) {
        self.terminal = terminal
        self.store = store
        schedule = ChaosSchedule(
            seed: seed,
            length: length,
            scene: ChaosSchedule.Scene(
                processes: store.processes.map(\.name),
                brokers: store.broker.nodes,
                databaseLines: store.instanceProxies.keys.sorted(),
                hasBrokerLine: store.kafkaProxy != nil,
                hasDisk: store.cluster.disk != nil,
                hasProcessor: store.stripe != nil
            ),
            kinds: kinds
        )
        buyers = ChaosBuyers(store: store, accounts: accounts, seed: seed)
        bank = ChaosBank(buyers: buyers)
        strikes = ChaosStrikes(
            terminal: terminal,
            store: store,
            buyers: buyers,
            schedule: schedule,
            length: length
        )
    }

    /// The problems that are not in the books: answers that no client should get, purchases that
    /// nobody could finish, and acts that buyers could do too often.
    var complaints: [String] {
        var complaints = [buyers.answers.complaint].compactMap { $0 } + buyers.acts.complaints
        if !buyers.unfinished.isEmpty {
            complaints.append("\(buyers.unfinished.count) accepted payments are not finished")
        }
        return complaints
    }

    /// Runs it to its end.
    func run() async throws -> AuditReport {
        try await terminal.importSampleCatalog(into: store)
        let merchant = try await WebhookReceiver.start()
        // Every fifth delivery is refused once, so that retries occur.
        merchant.reply { _, count in .status(count % 5 == 4 ? 503 : 200) }
        self.merchant.withLock { $0 = merchant }
        _ = try await store.administrator.put(
            SampleCatalog.gift(deliveredTo: merchant.url),
            as: SampleCatalog.gift
        )
        try await store.waitUntilSellable(SampleCatalog.gift)
        try await ChaosCatalog.sell(in: store, redemptions: buyers.acts.redemptionsMax)

        try await buyers.saveCards()
        try await buyers.giveGrace()

        terminal.heading("\(schedule.strikes.count) faults")
        buyers.begin()
        let following = Task { try await buyers.follow() }
        let buying = Task { try await buyers.buy() }
        let passing = Task { try await passTime() }
        let banking = Task { try await bank.work() }
        defer {
            following.cancel()
            buying.cancel()
            passing.cancel()
            banking.cancel()
        }
        try await strikes.run()
        terminal.heading("Healing")
        buyers.close()
        try await heal()
        buyers.expectAnswers()
        try await buying.value
        lap("every payment is answered")
        try await passing.value
        try await passLastDays()
        try await silence()
        bank.close()
        try await banking.value
        lap("the bank has made its disputes, and failed \(bank.failedRefunds) refunds")
        try await finishRenewals()
        try await buyers.countExtended()
        following.cancel()
        await merchant.stop()
        terminal.heading("Faults")
        strikes.tell()
        tellWaits()
        return try await audit(merchant)
    }

    private func passTime() async throws {
        try await buyers.passTime { days in self.days.withLock { $0 += days } }
    }

    /// Advances the clock once more, with nothing in the way, so that no charge is left to repeat.
    private func passLastDays() async throws {
        let isThere = try await buyers.advanceClock(days: Self.lastDays, key: "chaos-clock-last")
        if isThere { days.withLock { $0 += Self.lastDays } }
        lap("the store is \(days.withLock { $0 }) days older")
    }

    private func lap(_ what: String) { terminal.done(what, ContinuousClock.now - begin) }

    private func heal() async throws {
        for process in store.processes where !process.isRunning {
            terminal.line("  \(process.name) had ended by itself\n\(process.logTail())", .red)
        }
        try await store.heal()
        lap("everything runs and is ready")
    }

    /// Waits until the buyers have finished everything, as long as there is progress and time.
    private func silence() async throws {
        let start = ContinuousClock.now
        var finished = -1
        var lastProgress = start
        var lastTold = start
        while buyers.finishedCount < buyers.accepted.count {
            let count = buyers.finishedCount
            let now = ContinuousClock.now
            if count > finished {
                finished = count
                lastProgress = now
            }
            guard now - lastProgress < Self.progressLimit, now - start < Self.settlingLimit else {
                await tellUnsettled()
                break
            }
            if now - lastTold >= .seconds(5) {
                lastTold = now
                lap("\(count) of \(buyers.accepted.count) are finished so far")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        lap("\(buyers.finishedCount) of \(buyers.accepted.count) are finished")
    }

    /// Waits until the books have nothing unfinished, or for so long that they should have nothing.
    ///
    /// Nobody has asked for renewals, and one may still be on its way to its queue. So the books say
    /// when all are finished, and the buyers go on until then.
    private func finishRenewals() async throws {
        let start = ContinuousClock.now
        // Families share a purchase a moment after it, so the books have to say it twice.
        var agreements = 0
        while agreements < 2, ContinuousClock.now - start < Self.settlingLimit {
            agreements = try await isUnfinished() ? 0 : agreements + 1
            try await Task.sleep(for: agreements == 1 ? .seconds(2) : .milliseconds(200))
        }
        lap("\(buyers.renewalCount) renewals are finished")
    }

    /// Whether the books have anything that was paid and is not finished.
    private func isUnfinished() async throws -> Bool {
        let answer = try await store.reconcile()
        return AuditReport(of: answer, accepted: buyers.accepted, wonDisputes: bank.won).lost > 0
    }

    /// Prints the accepted payments that are unsettled at the deadline, and the state of each.
    private func tellUnsettled() async {
        let unfinished = buyers.unfinished
        terminal.line("  \(unfinished.count) accepted payments are unsettled:", .red)
        for payment in unfinished.prefix(20) {
            let client = try? store.client(account: payment.account.rawValue)
            // If there is no answer, that is what is printed.
            let transaction = try? await client?.transaction(payment.transactionID).valueIfAny
            let queue = try? await client?.unfinished().valueIfAny
            let change = queue?.transactions.first {
                $0.transaction.id == payment.transactionID
            }
            let state = transaction.map { "\($0.transaction.state)" } ?? "no answer"
            let delivery = change.map { $0.isDelivered ? "delivered" : "not delivered" }
            terminal.line(
                "    \(payment.transactionID) of \(payment.account) by \(payment.paymentMethod): "
                    + "payments: \(state); queue: \(delivery ?? "not there")"
            )
        }
        terminal.line(await store.diagnosis(), .dim)
    }

    /// Prints how long buyers waited.
    private func tellWaits() {
        buyers.answers.tell(terminal)
        let silence = buyers.longestSilence
        terminal.field(
            "no finish",
            "for \(Terminal.describe(silence.length)) at most, from "
                + "\(Terminal.describe(silence.start)) on"
        )
    }

    private func audit(_ merchant: WebhookReceiver) async throws -> AuditReport {
        terminal.heading("Audit")
        let accepted = buyers.accepted
        let store = store
        // The last finishes are still on their way to `receipts` and `payments`.
        let report = try await Auditor(store).audit(
            accepted: accepted,
            within: .seconds(30),
            merchant: merchant,
            wonDisputes: bank.won
        )
        let repetitions = buyers.repetitions
        terminal.field("asked again", "\(repetitions.requests) requests")
        terminal.field("streams", "\(repetitions.streams) opened again")
        terminal.field("merchant", "\(merchant.deliveries.count) requests received")
        for line in bank.disputes { terminal.field("disputes", line) }
        if store.stripe != nil {
            terminal.field("bank", "\(bank.failedRefunds) refunds failed after their confirmation")
        }
        buyers.acts.tell(terminal)
        for (code, count) in buyers.refusals.sorted(by: { $0.key < $1.key }) {
            terminal.field("refused", "\(count) × \(code)")
        }
        terminal.line()
        terminal.show(report)
        return report
    }
}
