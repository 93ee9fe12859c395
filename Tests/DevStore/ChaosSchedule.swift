import TestSupport

/// What is killed when: the same for the same seed.
struct ChaosSchedule: Sendable {
    /// Something that can be killed.
    enum Victim: Hashable, Sendable, CustomStringConvertible {
        /// A service's process, by its name.
        case process(String)
        /// A node of the broker; the development broker has one, which forgets its whole log.
        case broker(Int)
        /// PostgreSQL, by an immediate stop.
        case postgres

        /// Whether it is a node of the broker.
        var isBroker: Bool {
            if case .broker = self { true } else { false }
        }

        var description: String {
            switch self {
            case .process(let name): name
            case .broker(let node): "broker \(node)"
            case .postgres: "postgresql"
            }
        }
    }

    /// One kill, and for how long.
    struct Strike: Sendable {
        var time: Duration
        var victim: Victim
        var downtime: Duration
        /// Whether it waits for the moment between a service's work on a batch and its commit,
        /// which chance alone seldom hits.
        var isAimed: Bool
    }

    let strikes: [Strike]

    /// Makes a schedule: first everything once, in random order, then at random.
    ///
    /// Services are struck more often than what they stand on. What is still down at its time is
    /// passed over, and so is a broker while another is down.
    ///
    /// - Parameters:
    ///   - seed: The seed.
    ///   - length: For how long.
    ///   - processes: The names of the services' processes.
    ///   - brokers: The numbers of the broker's nodes. One of several may be away for longer than the
    ///     others wait before they take over from it, which is nine seconds.
    init(seed: UInt64, length: Duration, processes: [String], brokers: [Int]) {
        var random = SeededGenerator(seed: seed)
        let services = processes.map { Victim.process($0) }
        let foundations = brokers.map { Victim.broker($0) } + [.postgres]
        var first = (services + foundations).shuffled(using: &random)
        let later = services + services + services + foundations
        var strikes: [Strike] = []
        var time = Duration.milliseconds(1500)
        while time < length {
            let victim = first.popLast() ?? later[Int.random(in: later.indices, using: &random)]
            let hasOthers = victim.isBroker && brokers.count > 1
            strikes.append(
                Strike(
                    time: time,
                    victim: victim,
                    downtime: .milliseconds(
                        Int.random(in: 0...(hasOthers ? 15_000 : 1500), using: &random)
                    ),
                    isAimed: Bool.random(using: &random)
                )
            )
            time += .milliseconds(Int.random(in: 300...2500, using: &random))
        }
        self.strikes = strikes
    }
}
