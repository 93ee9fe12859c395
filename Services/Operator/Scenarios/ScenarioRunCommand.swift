import ArgumentParser
import EventTypes
import OperatorCore
import PaymentQueue
import Scenarios

/// `counterfoil scenario run`: plays files on the operator's own sandbox.
struct ScenarioRunCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Plays scenario files on a running sandbox.",
        discussion: """
            Each run has accounts of its own, such as ada-1f3a09c2. Its products stay in the \
            catalog; their ids begin with 'scenario.'. A scenario that needs more than the \
            store's public interfaces is skipped, unless a flag offers it, and facts that the \
            store does not show are left out. Scenarios that kill services need 'make \
            scenario', which has a store of its own.

            Examples:
              counterfoil scenario run Examples/scenarios/refund.yaml --ledger --steps
              counterfoil scenario run stories/*.yaml --clock --junit scenarios.xml
            """
    )

    @OptionGroup var options: ScenarioPlayOptions
    @OptionGroup var services: StoreOptions
    @OptionGroup var databases: DatabaseOptions

    @Flag(help: "Let scenarios advance the store's clock, for everybody who uses the store.")
    var clock = false

    @Flag(help: "Read the ledger in the database of payments.")
    var ledger = false

    func perform() async throws {
        let url = { services.connection(to: $0, token: nil).baseURL }
        var store = try options.store(
            at: StoreConfiguration.Addresses(
                catalog: url(.catalog),
                payments: url(.payments),
                fulfillment: url(.fulfillment),
                receipts: url(.receipts)
            )
        )
        store.hasClock = clock
        if ledger {
            let address = databases.address(of: .payments)
            store.ledger = { id in
                try await DatabaseReader.read(address) { connection in
                    try LedgerSumStore.sums(of: id, on: connection)
                }
            }
        }
        try await options.play(on: store, json: services.json)
    }
}
