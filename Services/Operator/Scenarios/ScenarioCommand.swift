import ArgumentParser
import Scenarios

/// `counterfoil scenario`: stories in files.
struct ScenarioCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenario",
        abstract: "Plays and checks scenario files: products, devices, steps, and expected facts.",
        discussion: """
            Examples:
              counterfoil scenario run Examples/scenarios/refund.yaml --ledger
              counterfoil scenario check https://sandbox.example.com stories/*.yaml
              counterfoil scenario plan Examples/scenarios/*.yaml
              counterfoil scenario schema > scenario.schema.json
            """,
        subcommands: [
            ScenarioRunCommand.self, ScenarioCheckCommand.self, ScenarioPlanCommand.self,
            ScenarioSchemaCommand.self,
        ]
    )
}

/// `counterfoil scenario schema`.
struct ScenarioSchemaCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Prints the JSON schema of scenario files, for editors."
    )

    func perform() async throws {
        Console.say(String(ScenarioSchema.text.dropLast()))
    }
}
