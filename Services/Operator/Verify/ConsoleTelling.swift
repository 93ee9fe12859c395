import ArgumentParser
import ClockAndIDs
import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// The options by which a proof shows its findings in the console.
struct ConsoleTelling: ParsableArguments {
    @Flag(help: "Show the findings on the console's page Proofs, too. Needs the scope operator.")
    var tellConsole = false

    @OptionGroup var console: ConsoleOption
    @OptionGroup var keys: KeysOption
    @OptionGroup var admin: AdminOption

    /// Sends the findings of a proof, if that is wanted.
    ///
    /// The proof is done by then. So a console that is away is only named on standard error.
    func tell(_ report: VerificationReport) async {
        guard tellConsole else { return }
        let handover = ProofHandover(id: EventID(time: .wallClock()), report: report)
        do {
            let token = try await admin.token(
                keys: keys.directory,
                at: .now(),
                lifetime: .seconds(300),
                scopes: [.operator]
            )
            _ = try await StoreConnection(service: "console", baseURL: console.url, token: token)
                .send(.POST, ProofHandover.path, .json(handover))
        } catch {
            Console.complain("The proof is done, but the console does not show it. \(error)")
        }
    }
}
