import StoreHarness

/// Which faults strike what, when, and for how long: a function of the seed, the length, and what there
/// is to strike.
struct ChaosSchedule: Sendable {
    /// What there is to strike.
    struct Scene: Sendable {
        /// The names of the services' processes.
        var processes: [String]
        /// The numbers of the broker's nodes.
        var brokers: [Int]
        /// The processes whose line to PostgreSQL can go dark.
        var databaseLines: [String] = []
        /// Whether the line to the broker can go dark.
        var hasBrokerLine = false
        /// Whether PostgreSQL's data have a file system that can be filled.
        var hasDisk = false
    }

    /// In the order of their times.
    let strikes: [Strike]

    /// How long a service that was killed or hung may need before it is worth striking again.
    private static let recovery = Duration.seconds(1)
    /// Nothing begins when less than this is left.
    private static let shortest = Duration.milliseconds(500)
    /// How long a kill may wait for a commit, and for what was held to be dropped.
    static let aim = Duration.seconds(6)

    /// Makes a schedule.
    ///
    /// Each kind of fault has a rhythm of its own: first everything once, in random order, then at random,
    /// services more often than what they stand on. Nothing is struck while it is still down, and every
    /// fault is over by the end.
    ///
    /// - Parameters:
    ///   - seed: The same seed makes the same schedule.
    ///   - length: For how long.
    ///   - scene: What there is.
    ///   - kinds: The kinds of fault to take.
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
                // It waits for the first that is free again.
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

/// How often a kind of fault strikes, in milliseconds.
private struct Rhythm {
    /// When the first one is.
    var first: ClosedRange<Int>
    /// From the beginning of one to the beginning of the next.
    var pause: ClosedRange<Int>

    static func of(_ kind: FaultKind) -> Rhythm {
        switch kind {
        case .kills: Rhythm(first: 1000...2000, pause: 400...3600)
        case .hangs: Rhythm(first: 1500...4000, pause: 2500...6500)
        case .dark: Rhythm(first: 2000...5000, pause: 4000...9000)
        case .disk: Rhythm(first: 4000...9000, pause: 8000...13_000)
        }
    }
}

/// Targets of a kind: those that have not had their turn, and all, as often as they are to be chosen.
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

    /// The next one that is free, if there is one.
    mutating func next(
        using random: inout SeededGenerator,
        where isFree: (FaultTarget) -> Bool
    ) -> FaultTarget? {
        if let index = waiting.lastIndex(where: isFree) { return waiting.remove(at: index) }
        return all.filter(isFree).randomElement(using: &random)
    }
}

extension ChaosSchedule.Scene {
    /// What a kind of fault can strike here.
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
        }
    }

    /// How long such a fault may last, in milliseconds.
    ///
    /// One hang of a service in four, and one dark line in four, is longer than the fifteen seconds after
    /// which a silent leader of a relay has lost its lead.
    fileprivate func length(
        on target: FaultTarget,
        _ scene: ChaosSchedule.Scene,
        using random: inout SeededGenerator
    ) -> ClosedRange<Int> {
        let isLong = Int.random(in: 1...4, using: &random) == 1
        return switch (self, target) {
        // The others take over from one broker of several after nine seconds.
        case (.kills, .broker) where scene.brokers.count > 1: 0...15_000
        case (.kills, _): 0...1500
        case (.hangs, .process), (.dark, .databaseLine):
            isLong ? 16_000...22_000 : 500...8000
        case (.hangs, .postgres): 1000...14_000
        case (.hangs, _), (.dark, _): 1000...12_000
        case (.disk, _): 1500...5000
        }
    }
}

extension SeededGenerator {
    /// A random time.
    fileprivate mutating func duration(in milliseconds: ClosedRange<Int>) -> Duration {
        .milliseconds(Int.random(in: milliseconds, using: &self))
    }
}
