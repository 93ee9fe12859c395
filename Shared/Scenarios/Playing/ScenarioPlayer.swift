import EventTypes
import NIOHTTP1
import PaymentQueue
import StoreAPI

/// Plays scenarios on a store.
public struct ScenarioPlayer: Sendable {
    private let store: ScenarioStore
    private let wait: ScenarioWait

    private static let restorePause = Duration.milliseconds(250)

    /// Makes a player.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - limit: The time limit of each step, and of each expectation.
    public init(_ store: ScenarioStore, limit: Duration = .seconds(30)) {
        self.store = store
        wait = ScenarioWait(limit: limit)
    }

    /// Plays a scenario.
    ///
    /// Its accounts have names that no other run has, so several scenarios can be played on one
    /// store. A scenario that advances the store's clock does so for all of them.
    ///
    /// - Parameters:
    ///   - file: The scenario.
    ///   - seed: A seed in place of the scenario's own.
    ///   - tell: Receives each step before it is performed.
    /// - Returns: The outcome.
    /// - Throws: `CancellationError`, or an error if the store cannot be healed after its faults.
    public func play(
        _ file: ScenarioFile,
        seed: UInt64? = nil,
        tell: @Sendable (ScenarioStep) -> Void = { _ in }
    ) async throws -> ScenarioReport {
        let suffix = "-" + String(UInt32.random(in: 0x1000_0000...UInt32.max), radix: 16)
        let begin = ContinuousClock.now
        let plan = ScenarioPlan(file.scenario, seed: seed)
        let unmet = plan.unmetNeeds(by: store.meets)
        let shown = plan.leavingOutFacts(beyond: store.meets)
        var outcome = ScenarioReport.Outcome.skipped(unmet)
        if unmet.isEmpty {
            outcome = try await play(file.scenario, shown, suffix, tell)
            // The next scenario finds the store as this one did.
            if plan.needs.contains(.faults) { try await store.faults?.heal() }
            if plan.setsClock { try await runClock() }
            if plan.needs.contains(.merchant) { store.merchant?.answer(with: 200) }
        }
        return ScenarioReport(
            path: file.path,
            name: file.scenario.name,
            seed: seed ?? file.scenario.seed,
            accountSuffix: suffix,
            outcome: outcome,
            leftOutCount: plan.factCount - shown.factCount,
            time: ContinuousClock.now - begin
        )
    }

    /// Lets the store's clock run as fast as the machines', unless an advance is under way.
    private func runClock() async throws {
        let connection = ScenarioConnection(store: store, wait: wait)
        do {
            try await connection.send(
                .POST,
                store.addresses.payments + Routes.adminClockRun,
                by: .administrator,
                ClockRunRequest()
            )
        } catch is ScenarioConnection.Refusal {
            // A story that failed may leave an advance, which ends by itself.
        }
    }

    private func play(
        _ scenario: Scenario,
        _ plan: ScenarioPlan,
        _ suffix: String,
        _ tell: @Sendable (ScenarioStep) -> Void
    ) async throws -> ScenarioReport.Outcome {
        var stage: ScenarioStage
        do {
            let connection = ScenarioConnection(store: store, wait: wait)
            stage = try await ScenarioStage(scenario, suffix: suffix, connection)
        } catch {
            try Task.checkCancellation()
            let message = "the products and accounts: \(error)"
            return .failed([ScenarioReport.Finding(line: 1, message: message)])
        }
        defer { stage.close() }
        for step in plan.steps {
            tell(step)
            let findings = try await perform(step, on: &stage)
            guard findings.isEmpty else { return .failed(findings) }
        }
        let unmet = stage.linesOfUnmetDrops.map {
            ScenarioReport.Finding(line: $0, message: "not all of these answers were asked for")
        }
        return unmet.isEmpty ? .passed : .failed(unmet)
    }

    private func perform(
        _ step: ScenarioStep,
        on stage: inout ScenarioStage
    ) async throws -> [ScenarioReport.Finding] {
        do {
            if case .expect(let facts) = step.action { return try await expect(facts, of: &stage) }
            try await stage.perform(step.action, line: step.line)
            return []
        } catch {
            try Task.checkCancellation()
            let message = "\(step.action): \(error)"
            return [ScenarioReport.Finding(line: step.line, message: message)]
        }
    }

    /// Observes until all facts hold or the time is over.
    ///
    /// `payments` learns by an event that a purchase is finished and can be restored. So a device
    /// that has restored too little restores again from time to time, as its buyer would.
    private func expect(
        _ facts: [ScenarioFact],
        of stage: inout ScenarioStage
    ) async throws -> [ScenarioReport.Finding] {
        var differences: [ScenarioDifference] = []
        var nextRestore = ContinuousClock.now + Self.restorePause
        do {
            _ = try await wait.until("the facts") {
                let observed = try await stage.observe(facts)
                differences = ScenarioComparison.differences(facts, observed)
                if differences.isEmpty { return true }
                guard ContinuousClock.now >= nextRestore else { return Bool?.none }
                for device in ScenarioComparison.devicesToRestore(differences) {
                    try await stage.perform(.restore(device: device), line: 0)
                }
                nextRestore = ContinuousClock.now + Self.restorePause
                return nil
            }
            return []
        } catch let failure as StepFailure {
            guard !differences.isEmpty else { throw failure }
            return differences.map {
                ScenarioReport.Finding(line: $0.fact.line, message: $0.message)
            }.sorted { $0.line < $1.line }
        }
    }
}
