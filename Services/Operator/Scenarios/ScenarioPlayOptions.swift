import ArgumentParser
import ClockAndIDs
import EventTypes
import Foundation
import OperatorCore
import PaymentQueue
import Scenarios

/// The files to play, how, and who signs the tokens.
struct ScenarioPlayOptions: ParsableArguments {
    @Argument(help: "The files, in YAML or JSON, or folders of them.", completion: .file())
    var files: [String]

    @OptionGroup var keys: KeysOption
    @OptionGroup var app: AppOptions
    @OptionGroup var admin: AdminOption

    @Option(help: "A seed in place of those in the files.")
    var seed: UInt64?

    @Option(help: "The time limit of each step and each expectation, in seconds.")
    var timeout = 30

    @Option(help: "Write the results to this file as JUnit's XML.", completion: .file())
    var junit: String?

    @Flag(help: "Print each step.")
    var steps = false

    func validate() throws {
        guard (1...3600).contains(timeout) else {
            throw ValidationError("--timeout must be from 1 to 3600 seconds.")
        }
    }

    /// The store at some addresses, with only its public interfaces.
    func store(at addresses: StoreConfiguration.Addresses) throws(OperatorError) -> ScenarioStore {
        let (keys, app, admin) = (keys.directory, app, admin)
        let bundleID = try app.app(keys: keys)
        var store = ScenarioStore(
            addresses: addresses,
            bundleID: bundleID,
            accountToken: { account in
                try await app.token(for: account, keys: keys, at: .now(), lifetime: .seconds(3_600))
            },
            administratorToken: {
                try await admin.token(keys: keys, at: .now(), lifetime: .seconds(3_600))
            }
        )
        if let key = try OfferKey.find(for: bundleID, in: keys) {
            store.signOffer = { offer, product in
                try key.discount(offer, of: product, at: Date())
            }
        }
        return store
    }

    /// Plays the files, prints what happened, and fails if something was wrong.
    func play(on store: ScenarioStore, json: Bool) async throws {
        let player = ScenarioPlayer(store, limit: .seconds(timeout))
        var reports: [ScenarioReport] = []
        for file in try ScenarioFiles.read(files) {
            let report = try await player.play(file, seed: seed) { [steps] step in
                if steps && !json { Console.say("    \(step.line): \(step.action)") }
            }
            if !json { for line in report.lines { Console.say(line) } }
            reports.append(report)
        }
        if let junit {
            do {
                try Data(JUnitReport.text(reports).utf8).write(to: URL(filePath: junit))
            } catch {
                throw OperatorError.unwritable(junit, error)
            }
        }
        if json {
            try Console.say(json: reports.map(ScenarioAnswer.init))
        } else {
            Console.say(ScenarioReport.summary(reports) + ".")
        }
        if reports.contains(where: \.hasFailed) {
            throw OperatorError(.failed, "The store did not do what the scenarios say.")
        }
    }
}
