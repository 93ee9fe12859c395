import ArgumentParser

/// `devstore`: runs a store on this machine, to try it, to watch it, to break it and to measure it.
@main
struct DevStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devstore",
        abstract: "Runs a whole Counterfoil store on this machine.",
        discussion: """
            Each command starts PostgreSQL, a broker and the four services, and stops them when \
            it ends. It touches nothing outside its own folder.

            Examples:
              devstore run                   a store that runs until Ctrl-C
              devstore demo                  one purchase, shown step by step
              devstore chaos --seed 7        purchases amid faults, then an audit
              devstore bench                 purchases per second, and what they cost
              devstore offers                what an offer and a code add to a purchase
              devstore raise                 a higher price for a million subscribers
              devstore clients               what connected clients cost
              devstore verify-demo           the books, rebuilt from the event log
              devstore signing               what signatures, receipts and histories cost
              devstore conformance           Apple's own client, run against a store
              devstore scenario FILE...      stories in files, played on a store
              devstore contracts             a store, tested against OpenAPI and AsyncAPI
              devstore stripe                a stand-in for Stripe, without a store

            Environment variables:
              NO_COLOR                       print without colours
              KAFKA_HOME                     an unpacked Apache Kafka 4, used as the broker
              COUNTERFOIL_BROKER             the development broker, if not .deps/bin/tansu
              COUNTERFOIL_BUILD_DIRECTORY    the folder of the services' executables
                                             (default: the folder of devstore)
              COUNTERFOIL_KEEP_LOGS          keep the logs of a temporary store
              COUNTERFOIL_LOG_LEVEL          the log level of services under test
            """,
        subcommands: [
            RunCommand.self, DemoCommand.self, ChaosCommand.self, BenchCommand.self,
            OffersCommand.self, RaiseCommand.self, ClientsCommand.self, SigningCommand.self,
            VerifyDemoCommand.self, ConformanceCommand.self, ContractsCommand.self,
            ScenarioCommand.self, StripeCommand.self,
        ]
    )
}
