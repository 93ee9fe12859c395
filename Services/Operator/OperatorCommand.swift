import ArgumentParser
import Foundation
import StoreAPI

/// The operator's command line.
///
/// Each family of subcommands is a folder. They share ``StoreOptions`` (the services' addresses),
/// ``KeysOption`` (whose keys to use) and ``Console`` (the output).
@main
struct OperatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "counterfoil",
        abstract: "Runs a Counterfoil store from the command line.",
        discussion: """
            Examples:
              counterfoil keys create --directory .dev/keys
              counterfoil products import deploy/sample/catalog.json
              counterfoil status
              counterfoil why 1000001
              counterfoil reconcile
              counterfoil log list
              counterfoil buy com.example.coins.100 --account ada --storefront USA
              counterfoil refund 1000001

            Exit codes:
              0   done
              1   refused by the store, or failed, or books differ
              64  the command line or a setting is wrong
              69  a service or database is away, or asks to try again later
              75  accepted, but not through in time; it goes on by itself
              77  a service or database refuses the credentials
              130 interrupted; what was done so far is kept
            With any of them but 0, standard error says why and what to do.

            Settings:
              COUNTERFOIL_CATALOG_URL, COUNTERFOIL_PAYMENTS_URL, …           services
              COUNTERFOIL_CATALOG_DATABASE_URL, …                            databases
              COUNTERFOIL_KEYS                                               keys
              . .dev/operator.env                   all of them for the store of 'make run'

            Completions for the shell:
              counterfoil --generate-completion-script bash   (or zsh, fish)
            """,
        version: "counterfoil \(CounterfoilVersion.current)",
        subcommands: [
            StatusCommand.self, WhyCommand.self, TraceCommand.self, ReconcileCommand.self,
            ReplayCommand.self, VerifyCommand.self, LogCommand.self, LagCommand.self,
            DeadLettersCommand.self, ProductsCommand.self, BuyCommand.self, RefundCommand.self,
            ResendCommand.self, ApproveCommand.self, DeclineCommand.self, KeysCommand.self,
            TokenCommand.self,
        ]
    )
}
