import ArgumentParser
import Foundation

/// The operator's command line.
///
/// Each subcommand is one file; what they share is in ``StoreOptions`` (where the services are),
/// ``TokenOptions`` (whose keys to use) and ``Console`` (what is said).
@main
struct OperatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "counterfoil",
        abstract: "Runs a Counterfoil store from the command line.",
        discussion: """
            Examples:
              counterfoil keys create --directory .dev/keys
              counterfoil products import deploy/sample/catalog.json
              counterfoil buy com.example.coins.100 --account ada --storefront USA
              counterfoil refund 1000000000000001

            Exit codes:
              0   done
              1   refused by the store, or failed; the reason is on standard error
              64  the command line is wrong
              69  a service cannot be reached, or asks to try again later
              75  accepted, but not through when the waiting time was over; it goes on by itself
            """,
        version: "counterfoil 0.1.0",
        subcommands: [
            KeysCommand.self, TokenCommand.self, ProductsCommand.self, BuyCommand.self,
            RefundCommand.self, ApproveCommand.self, DeclineCommand.self,
        ]
    )
}

/// A subcommand whose failures become one line on standard error and a documented exit code.
protocol OperatorSubcommand: AsyncParsableCommand {
    /// Does the work.
    func perform() async throws
}

extension OperatorSubcommand {
    func run() async throws {
        do {
            try await perform()
        } catch let error as OperatorError {
            Console.complain(error.description)
            throw ExitCode(error.code.exitCode)
        }
    }
}
