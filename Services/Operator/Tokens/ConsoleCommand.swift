import ArgumentParser
import ClockAndIDs
import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// `counterfoil console`: the pages for a browser.
struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Signs you in to the console, the store's pages for a browser.",
        subcommands: [ConsoleTicketCommand.self]
    )
}

/// `counterfoil console ticket`.
struct ConsoleTicketCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "ticket",
        abstract: "Prints an address that signs you in, once and within a minute.",
        discussion: """
            The console gets a token of yours and keeps it for the session, eight hours at most. The \
            browser gets a ticket, and never the token. --scope narrows what the session may do.

            Examples:
              counterfoil console ticket
              counterfoil console ticket --administrator maria --scope read

            JSON:
              {"url", "secondsLeft"}
            """
    )

    @OptionGroup var keys: KeysOption
    @OptionGroup var admin: AdminOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var console: ConsoleOption

    @Option(
        name: .customLong("scope"),
        help: "A scope that the session has: read, support, operator or merchandiser (repeatable).",
        transform: AdministratorScope.option
    )
    var scopes: [AdministratorScope] = []

    func perform() async throws {
        let token = try await admin.token(
            keys: keys.directory,
            at: .now(),
            lifetime: .seconds(8 * 3600),
            scopes: scopes
        )
        let ticket = try await StoreConnection(
            service: "console",
            baseURL: console.url,
            token: token
        )
        .send(.POST, "/tickets", as: SignInTicket.self)
        if output.json { return try Console.say(json: ticket) }
        Console.say(ticket.url)
    }
}
