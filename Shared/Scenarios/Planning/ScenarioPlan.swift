/// The steps of a run in order, and what the run needs.
///
/// Pure: the same scenario and seed give the same plan.
public struct ScenarioPlan: Sendable {
    /// The steps, without shuffles.
    public let steps: [ScenarioStep]
    /// Everything that the run needs beside a store's public interfaces.
    public let needs: Set<ScenarioNeed>

    /// Plans a run.
    ///
    /// - Parameters:
    ///   - scenario: The scenario.
    ///   - seed: A seed in place of the scenario's own.
    public init(_ scenario: Scenario, seed: UInt64? = nil) {
        var random = ScenarioRandom(seed: seed ?? scenario.seed)
        steps = Self.flatten(scenario.steps, &random)
        var needs = Set(steps.flatMap { Self.needs(of: $0.action) })
        if scenario.products.contains(where: \.hasWebhook) { needs.insert(.merchant) }
        self.needs = needs
    }

    /// The facts that the run expects.
    public var factCount: Int {
        steps.reduce(0) { count, step in
            if case .expect(let facts) = step.action { count + facts.count } else { count }
        }
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

    private static func needs(of action: ScenarioAction) -> [ScenarioNeed] {
        switch action {
        case .advance: [.clock]
        case .kill, .restart, .freeze, .thaw, .drop, .duplicate: [.faults]
        case .answer: [.merchant]
        case .expect(let facts): facts.compactMap { need(of: $0.subject) }
        default: []
        }
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
