import ArgumentParser
import PaymentQueue

/// `counterfoil scenario check`: plays files on any server that speaks the public interfaces.
struct ScenarioCheckCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Plays the scenarios that need only the public interfaces of a store.",
        discussion: """
            One address serves all interfaces, as behind a proxy. Scenarios that advance the \
            clock, or need a merchant's server or faults, are skipped. Facts about the ledger \
            and about notifications are left out.

            Example:
              counterfoil scenario check https://sandbox.example.com stories/*.yaml
            """
    )

    @Argument(help: "The address of the store.")
    var url: String

    @OptionGroup var options: ScenarioPlayOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw ValidationError("'\(url)' is not an http or https URL.")
        }
    }

    func perform() async throws {
        var origin = url
        while origin.hasSuffix("/") { origin.removeLast() }
        try await options.play(on: try options.store(at: .init(origin: origin)), json: output.json)
    }
}
