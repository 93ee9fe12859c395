import ArgumentParser
import Foundation
import OperatorCore
import StoreAPI

/// The operator's command line.
///
/// Each family of subcommands is a folder. They share ``StoreOptions`` (the services' addresses),
/// ``KeysOption`` (whose keys to use) and ``Console`` (the output).
@main
struct OperatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "counterfoil",
        abstract: "Operates a Counterfoil store from the command line.",
        discussion: """
            Examples:
              counterfoil keys create --directory .dev/keys
              counterfoil products import deploy/sample/catalog.json
              counterfoil status
              counterfoil why 2175520387220000
              counterfoil reconcile
              counterfoil log list
              counterfoil buy com.example.coins.100 --account ada --storefront USA
              counterfoil refund 2175520387220000
              counterfoil subscriptions list --state inBillingRetryPeriod
              counterfoil clock advance 31d

            Exit codes:
              0   done
              1   refused by the store, failed, or the books differ
              64  the command line or a setting is wrong
              69  a service or database is unavailable, or asks to try again later
              75  accepted, but not completed in time; it continues by itself
              77  a service or database rejects the credentials
              130 interrupted; the work done so far stays
            After any failure, standard error says what went wrong and what to do.

            Settings in the environment:
              COUNTERFOIL_CATALOG_URL, COUNTERFOIL_PAYMENTS_URL, …  addresses of services
              COUNTERFOIL_CATALOG_DATABASE_URL, …                   addresses of databases
              COUNTERFOIL_KEYS                                      the directory of keys
              . .dev/operator.env              sets all of them for the store of 'make run'

            Shell completions:
              counterfoil --generate-completion-script bash   (or zsh, fish)
            """,
        version: "counterfoil \(CounterfoilVersion.current)",
        subcommands: [
            StatusCommand.self, WhyCommand.self, TraceCommand.self, ReconcileCommand.self,
            ReplayCommand.self, VerifyCommand.self, LogCommand.self, LagCommand.self,
            DeadLettersCommand.self, TestCommand.self, ProductsCommand.self, BuyCommand.self,
            RefundCommand.self, RefundRequestsCommand.self, ResendCommand.self,
            DeferredCommand.self, ApproveCommand.self, DeclineCommand.self,
            SubscriptionsCommand.self, OffersCommand.self, CodesCommand.self,
            FamiliesCommand.self, StoreClockCommand.self, ScenarioCommand.self,
            KeysCommand.self, TokenCommand.self, ConsoleCommand.self,
        ]
    )
}
