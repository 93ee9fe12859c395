import Foundation
import Synchronization
import StoreHarness

/// Carries out a schedule, and reports each fault with its time and its recovery.
final class ChaosStrikes: Sendable {
    private let terminal: Terminal
    private let store: StoreHarness
    private let buyers: ChaosBuyers
    private let schedule: ChaosSchedule
    private let length: Duration
    private let injector: FaultInjector
    private let begin = Mutex(ContinuousClock.now)
    private let record = Mutex(Record())
    /// The tasks that wait for the recovery of a target.
    private let watchers = Mutex<[Task<Void, Never>]>([])

    private struct Record {
        var down: Set<FaultTarget.Part> = []
        /// The number of times that each part was struck, by which a task that waits for its
        /// recovery sees whether it was struck again.
        var rounds: [FaultTarget.Part: Int] = [:]
        var tallies: [String: Tally] = [:]
        var passedOver = 0
        /// The time at which all faults were over.
        var end: ContinuousClock.Instant?
    }

    /// The time after the end of all faults in which something may recover before it is reported.
    private static let patience = Duration.seconds(30)

    private struct Tally {
        var times = 0
        var total = Duration.zero
        var longest = Duration.zero
    }

    init(
        terminal: Terminal,
        store: StoreHarness,
        buyers: ChaosBuyers,
        schedule: ChaosSchedule,
        length: Duration
    ) {
        self.terminal = terminal
        self.store = store
        self.buyers = buyers
        self.schedule = schedule
        self.length = length
        injector = FaultInjector(store: store)
    }

    /// Strikes until the schedule is over and everything that was held has been released.
    func run() async throws {
        let start = ContinuousClock.now
        begin.withLock { $0 = start }
        // The tasks are useless if a fault could not be started or ended.
        defer { for task in watchers.withLock({ $0 }) { task.cancel() } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for strike in schedule.strikes {
                try await Task.sleep(until: start.advanced(by: strike.time))
                guard let round = takeDown(strike) else { continue }
                group.addTask {
                    try await self.carryOut(strike)
                    let task = Task { await self.tellReturn(of: strike, round) }
                    self.watchers.withLock { $0.append(task) }
                }
            }
            try await Task.sleep(until: start.advanced(by: length))
            try await group.waitForAll()
        }
        await store.relieve()
        record.withLock { $0.end = .now }
        for task in watchers.withLock({ $0 }) { await task.value }
    }

    /// Prints how often each target was struck, and for how long.
    func tell() {
        let record = record.withLock { $0 }
        terminal.table(
            [["fault", "times", "in all", "longest"]]
                + record.tallies.sorted { $0.key < $1.key }.map { name, tally in
                    [
                        name, "\(tally.times)", Terminal.describe(tally.total),
                        Terminal.describe(tally.longest),
                    ]
                },
            rightAligned: [1, 2, 3]
        )
        if record.passedOver > 0 {
            terminal.line("  \(record.passedOver) passed over: their target was still down", .dim)
        }
        terminal.line()
    }

    /// Records that a target is down, unless it already is.
    ///
    /// - Returns: The number of times it has been struck; `nil` if it is already down.
    private func takeDown(_ strike: Strike) -> Int? {
        record.withLock { record in
            guard record.down.insert(strike.target.part).inserted else {
                record.passedOver += 1
                return nil
            }
            record.rounds[strike.target.part, default: 0] += 1
            let name = "\(strike.fault.kind.rawValue)  \(strike.target)"
            record.tallies[name, default: Tally()].times += 1
            return record.rounds[strike.target.part]
        }
    }

    private func carryOut(_ strike: Strike) async throws {
        defer { record.withLock { _ = $0.down.remove(strike.target.part) } }
        let counts = "\(buyers.accepted.count) accepted, \(buyers.finishedCount) finished so far"
        say(
            terminal.styled("✗ \(strike.announcement)", .red)
                + " for \(Terminal.describe(strike.length))"
                + terminal.styled("   \(counts)", .dim)
        )
        let start = ContinuousClock.now
        let note = try await injector.carryOut(strike)
        let time = ContinuousClock.now - start
        record.withLock { record in
            let name = "\(strike.fault.kind.rawValue)  \(strike.target)"
            var tally = record.tallies[name] ?? Tally()
            tally.total += time
            tally.longest = max(tally.longest, time)
            record.tallies[name] = tally
        }
        say(
            terminal.styled("↺ \(strike.relief)", .yellow)
                + (note.map { terminal.styled("   \($0)", .dim) } ?? "")
        )
    }

    /// Waits until a process is ready again, or until something is bought or finished again, and
    /// reports it.
    private func tellReturn(of strike: Strike, _ round: Int) async {
        let start = ContinuousClock.now
        let accepted = buyers.accepted.count
        let finished = buyers.finishedCount
        while !Task.isCancelled, record.withLock({ $0.rounds[strike.target.part] }) == round {
            if let end = record.withLock({ $0.end }), ContinuousClock.now - end > Self.patience {
                say(terminal.styled("! not back: \(strike.relief)", .red))
                return
            }
            let sign: String?
            switch strike.target {
            case .process(let name), .databaseLine(let name):
                let process = store.processes.first { $0.name == name }
                sign = await process?.isReady() == true ? "\(name) is ready" : nil
            case .postgres, .disk:
                sign = buyers.accepted.count > accepted ? "the next payment is accepted" : nil
            case .broker, .brokerLine, .processor:
                sign = buyers.finishedCount > finished ? "the next purchase is finished" : nil
            }
            if let sign {
                let time = Terminal.describe(ContinuousClock.now - start)
                say(terminal.styled("✓ \(sign)", .green) + " \(time) after \(strike.relief)")
                return
            }
            // After a cancellation, it checks once more and returns.
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    private func say(_ text: String) {
        let time = ContinuousClock.now - begin.withLock { $0 }
        terminal.line(String(format: "  %6.1f s  ", time.seconds) + text)
    }
}
