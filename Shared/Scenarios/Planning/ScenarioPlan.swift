/// The steps of a run in order, and what the run needs.
///
/// Pure: the same scenario and seed give the same plan.
public struct ScenarioPlan: Sendable {
    /// The steps, without shuffles.
    public let steps: [ScenarioStep]
    /// The needs of the steps and the products.
    ///
    /// A store that does not meet them cannot play the scenario.
    public let needs: Set<ScenarioNeed>
    /// The needs of facts alone.
    ///
    /// A store that does not meet them can play the scenario without these facts.
    public let factNeeds: Set<ScenarioNeed>

    /// Plans a run.
    ///
    /// - Parameters:
    ///   - scenario: The scenario.
    ///   - seed: A seed in place of the scenario's own.
    public init(_ scenario: Scenario, seed: UInt64? = nil) {
        var random = ScenarioRandom(seed: seed ?? scenario.seed)
        let steps = Self.flatten(scenario.steps, &random)
        var needs = Set(steps.compactMap { Self.need(of: $0.action) })
        if scenario.products.contains(where: \.hasWebhook) { needs.insert(.merchant) }
        self.init(steps: steps, needs: needs)
    }

    private init(steps: [ScenarioStep], needs: Set<ScenarioNeed>) {
        self.steps = steps
        self.needs = needs
        factNeeds = Set(
            steps.flatMap { Self.facts(of: $0.action).compactMap { Self.need(of: $0.subject) } }
        ).subtracting(needs)
    }

    /// Whether the run changes how the store's clock goes.
    var setsClock: Bool {
        steps.contains { step in
            if case .clock = step.action { true } else { false }
        }
    }

    /// The number of facts that the run expects.
    public var factCount: Int { steps.reduce(0) { $0 + Self.facts(of: $1.action).count } }

    /// Returns the needs because of which a store cannot play the scenario.
    ///
    /// - Parameter met: The needs that the store meets.
    /// - Returns: The unmet needs of steps and products. Those of facts count too if otherwise no
    ///   fact is left.
    public func unmetNeeds(by met: Set<ScenarioNeed>) -> Set<ScenarioNeed> {
        let showsNothing = factCount > 0 && leavingOutFacts(beyond: met).factCount == 0
        return (showsNothing ? needs.union(factNeeds) : needs).subtracting(met)
    }

    /// Returns the plan without the facts that a store does not show.
    ///
    /// - Parameter met: The needs that the store meets.
    /// - Returns: The plan. An expectation of which nothing is left stays as a step.
    public func leavingOutFacts(beyond met: Set<ScenarioNeed>) -> ScenarioPlan {
        let kept = steps.map { step in
            guard case .expect(let facts) = step.action else { return step }
            let shown = facts.filter { fact in
                Self.need(of: fact.subject).map(met.contains) ?? true
            }
            return ScenarioStep(line: step.line, action: .expect(shown))
        }
        return ScenarioPlan(steps: kept, needs: needs)
    }

    private static func flatten(
        _ steps: [ScenarioStep],
        _ random: inout ScenarioRandom
    ) -> [ScenarioStep] {
        steps.flatMap { step in
            guard case .shuffle(let inner) = step.action else { return [step] }
            return flatten(inner.shuffled(using: &random), &random)
        }
    }

    private static func need(of action: ScenarioAction) -> ScenarioNeed? {
        switch action {
        case .advance, .clock, .pass: .clock
        case .kill, .restart, .freeze, .thaw, .drop, .duplicate, .reorder: .faults
        case .answer: .merchant
        case .buy(let purchase) where purchase.offer?.kind == .promotional: .serverKey
        default: nil
        }
    }

    private static func facts(of action: ScenarioAction) -> [ScenarioFact] {
        if case .expect(let facts) = action { facts } else { [] }
    }

    private static func need(of subject: ScenarioSubject) -> ScenarioNeed? {
        switch subject {
        case .ledger: .ledger
        case .notifications, .webhooks: .merchant
        default: nil
        }
    }
}

/// Random numbers that are the same for a seed on every machine (SplitMix64; Steele, Lea and
/// Flood, 2014).
struct ScenarioRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
