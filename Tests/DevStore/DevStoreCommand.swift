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
              devstore run                          a store that stays up until Ctrl-C
              devstore demo                         one purchase, told step by step
              devstore chaos --seconds 60 --seed 7  purchases while everything is killed, then an audit
              devstore bench --purchases 100000     how many a second, and at what cost

            The environment:
              NO_COLOR                        no colour, whatever the terminal can do
              COUNTERFOIL_BROKER              the broker's executable, instead of .deps/bin/tansu
              COUNTERFOIL_BUILD_DIRECTORY     the services' executables, instead of those beside this
            """,
        subcommands: [
            RunCommand.self, DemoCommand.self, ChaosCommand.self, BenchCommand.self,
        ]
    )
}
