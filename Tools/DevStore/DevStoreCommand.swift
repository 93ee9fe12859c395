import ArgumentParser

/// A store on this machine, for people: to try it, to watch it, to break it, to measure it.
@main
struct DevStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devstore",
        abstract: "Runs a whole Counterfoil store on this machine.",
        discussion: """
            Each command starts PostgreSQL, a broker and the four services by itself and stops them \
            when it ends. Nothing outside its folder is touched.

            Examples:
              devstore run                   a store that stays up until Ctrl-C
              devstore demo                  one purchase, told step by step
              devstore chaos --seed 7        buy while all is killed, then audit
              devstore bench                 purchases per second, and their cost
              devstore clients               what connected clients cost
              devstore verify-demo           the books made again from the event log
              devstore signing               what signatures, receipts and histories cost
              devstore conformance           Apple's own client against a store
              devstore contracts             a store, held to its OpenAPI and AsyncAPI documents

            The environment:
              NO_COLOR                       no colour, whatever the terminal
              KAFKA_HOME                     an unpacked Apache Kafka 4, to be the broker
              COUNTERFOIL_BROKER             the development broker, if not .deps/bin/tansu
              COUNTERFOIL_BUILD_DIRECTORY    the services, if not beside this
              COUNTERFOIL_KEEP_LOGS          leave a temporary store's logs
              COUNTERFOIL_LOG_LEVEL          the level of services under test
            """,
        subcommands: [
            RunCommand.self, DemoCommand.self, ChaosCommand.self, BenchCommand.self,
            ClientsCommand.self, SigningCommand.self, VerifyDemoCommand.self,
            ConformanceCommand.self, ContractsCommand.self,
        ]
    )
}
