import StoreHarness
import StripeStandIn

/// A schedule of faults with their targets, times and lengths: a function of the seed, the length
/// and the possible targets.
struct ChaosSchedule: Sendable {
    /// The possible targets.
    struct Scene: Sendable {
        /// The names of the services' processes.
        var processes: [String]
        /// The numbers of the broker's nodes.
        var brokers: [Int]
        /// The processes whose connection to PostgreSQL can go dark.
        var databaseLines: [String] = []
        /// Whether the connection to the broker can go dark.
        var hasBrokerLine = false
        /// Whether PostgreSQL's data are on a file system that can be filled.
        var hasDisk = false
        /// Whether the processor is a stand-in that can be troubled.
        var hasProcessor = false
    }

    /// The strikes, in order of their times.
    let strikes: [Strike]

    /// The time that a service needs to recover before it is worth striking again.
    private static let recovery = Duration.seconds(1)
    /// No fault begins when less time than this is left.
    private static let shortest = Duration.milliseconds(500)
    /// The time that a kill may wait for a commit, and for the held traffic to be dropped.
    static let aim = Duration.seconds(6)

    /// Makes a schedule.
    ///
    /// Each kind of fault has its own rhythm. At first every target is struck once, in random
    /// order; then targets are chosen at random, services more often than what they depend on. No
    /// target is struck while it is still down, and every fault is over by the end.
    ///
    /// - Parameters:
    ///   - seed: The seed. The same seed makes the same schedule.
    ///   - length: The duration of the schedule.
    ///   - scene: The available targets.
    ///   - kinds: The kinds of fault to use.
    init(seed: UInt64, length: Duration, scene: Scene, kinds: Set<FaultKind>) {
        var random = SeededGenerator(seed: seed)
        var moments: [(time: Duration, kind: FaultKind)] = []
        for kind in FaultKind.allCases where kinds.contains(kind) {
            let rhythm = Rhythm.of(kind)
            var time = random.duration(in: rhythm.first)
            while time < length - Self.shortest {
                moments.append((time, kind))
                time += random.duration(in: rhythm.pause)
            }
        }
        moments.sort { $0.time < $1.time }

        var choices: [FaultKind: Choice] = [:]
        for kind in FaultKind.allCases {
            choices[kind] = Choice(of: scene.targets(of: kind), using: &random)
        }
        var busy: [FaultTarget.Part: Duration] = [:]
        var strikes: [Strike] = []
        while !moments.isEmpty {
            let (time, kind) = moments.removeFirst()
            let target = choices[kind]?.next(using: &random) { target in
                busy[target.part, default: .zero] <= time
            }
            guard let target else {
                // The strike waits for the first target that is free again.
                let (often, seldom) = scene.targets(of: kind)
                let free = (often + seldom).compactMap { busy[$0.part] }.min()
                if let free, free < length - Self.shortest {
                    let index = moments.firstIndex { $0.time > free } ?? moments.endIndex
                    moments.insert((free, kind), at: index)
                }
                continue
            }
            let fault = kind.fault(on: target, using: &random)
            let wanted = random.duration(in: kind.length(on: target, scene, using: &random))
            let strike = Strike(
                time: time,
                fault: fault,
                target: target,
                length: min(wanted, length - time)
            )
            strikes.append(strike)
            let aim = fault == .kill(beforeCommit: true) ? Self.aim : .zero
            busy[target.part] = strike.end + aim + Self.recovery
        }
        self.strikes = strikes
    }
}

/// The rhythm of a kind of fault, in milliseconds.
private struct Rhythm {
    /// The time of the first fault.
    var first: ClosedRange<Int>
    /// The time from the beginning of one fault to the beginning of the next.
    var pause: ClosedRange<Int>

    static func of(_ kind: FaultKind) -> Rhythm {
        switch kind {
        case .kills: Rhythm(first: 1000...2000, pause: 400...3600)
        case .hangs: Rhythm(first: 1500...4000, pause: 2500...6500)
        case .dark: Rhythm(first: 2000...5000, pause: 4000...9000)
        case .disk: Rhythm(first: 4000...9000, pause: 8000...13_000)
        case .processor: Rhythm(first: 1500...3000, pause: 3000...7000)
        }
    }
}

/// The targets of a kind of fault: those that were not struck yet, and all of them, weighted by
/// repetition.
private struct Choice {
    private var waiting: [FaultTarget]
    private let all: [FaultTarget]

    init(
        of targets: (often: [FaultTarget], seldom: [FaultTarget]),
        using random: inout SeededGenerator
    ) {
        waiting = (targets.often + targets.seldom).shuffled(using: &random)
        all = targets.often + targets.often + targets.often + targets.seldom
    }

    /// The next free target, if there is one.
    mutating func next(
        using random: inout SeededGenerator,
        where isFree: (FaultTarget) -> Bool
    ) -> FaultTarget? {
        if let index = waiting.lastIndex(where: isFree) { return waiting.remove(at: index) }
        return all.filter(isFree).randomElement(using: &random)
    }
}

extension ChaosSchedule.Scene {
    /// The targets of a kind of fault.
    fileprivate func targets(
        of kind: FaultKind
    ) -> (often: [FaultTarget], seldom: [FaultTarget]) {
        switch kind {
        case .kills, .hangs:
            (processes.map { .process($0) }, brokers.map { .broker($0) } + [.postgres])
        case .dark:
            (databaseLines.map { .databaseLine($0) }, hasBrokerLine ? [.brokerLine] : [])
        case .disk:
            ([], hasDisk ? [.disk] : [])
        case .processor:
            ([], hasProcessor ? [.processor] : [])
        }
    }
}

extension FaultKind {
    fileprivate func fault(
        on target: FaultTarget,
        using random: inout SeededGenerator
    ) -> Fault {
        let either = Bool.random(using: &random)
        return switch self {
        case .kills:
            if case .process = target {
                .kill(beforeCommit: either)
            } else {
                .kill(beforeCommit: false)
            }
        case .hangs: .hang
        case .dark: .dark(thenCut: either)
        case .disk: .full(switchingLog: either)
        case .processor: .trouble(Self.troubles.randomElement(using: &random) ?? .down)
        }
    }

    /// The troubles of a processor.
    ///
    /// None lets a call of its own fail under its key before anything was done, and keeps that: a
    /// store waits an hour before it believes it.
    private static let troubles: [StandInFault.Kind] = [
        .lostBefore, .lostAfter, .lostMidway, .stalled, .errorAfter, .down, .rateLimit,
        .lockTimeout, .slow(.milliseconds(600)),
    ]

    /// The possible lengths of such a fault, in milliseconds.
    ///
    /// One in four hangs of a service, and one in four dark connections, lasts longer than the
    /// fifteen seconds after which a silent relay leader loses its lead.
    fileprivate func length(
        on target: FaultTarget,
        _ scene: ChaosSchedule.Scene,
        using random: inout SeededGenerator
    ) -> ClosedRange<Int> {
        let isLong = Int.random(in: 1...4, using: &random) == 1
        return switch (self, target) {
        // After nine seconds, the other brokers take over from a silent one.
        case (.kills, .broker) where scene.brokers.count > 1: 0...15_000
        case (.kills, _): 0...1500
        case (.hangs, .process), (.dark, .databaseLine):
            isLong ? 16_000...22_000 : 500...8000
        case (.hangs, .postgres): 1000...14_000
        case (.hangs, _), (.dark, _): 1000...12_000
        case (.disk, _): 1500...5000
        case (.processor, _): 500...4000
        }
    }
}

extension SeededGenerator {
    /// Returns a random duration.
    fileprivate mutating func duration(in milliseconds: ClosedRange<Int>) -> Duration {
        .milliseconds(Int.random(in: milliseconds, using: &self))
    }
}
