import ArgumentParser
import ClockAndIDs
import EventTypes
import Foundation
import StoreAPI

/// `counterfoil token`: tokens for requests made by hand.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Signs a token for requests that you make by hand.",
        discussion: """
            Examples:
              TOKEN=$(counterfoil token account --keys .dev/keys --account ada)
              curl -H "Authorization: Bearer $TOKEN" \\
                http://127.0.0.1:8084/v1/queue/transactions
            """,
        subcommands: [AccountTokenCommand.self, AdminTokenCommand.self]
    )
}

/// `counterfoil token account`.
struct AccountTokenCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "account",
        abstract: "Signs a token for an account of an app."
    )

    @OptionGroup var keys: KeysOption
    @OptionGroup var app: AppOptions
    @OptionGroup var lifetime: LifetimeOption

    @Option(help: "The account's id, in the app's own account system.", transform: identifier)
    var account: AccountID

    func perform() async throws {
        Console.say(
            try await app.token(
                for: account,
                keys: keys.directory,
                at: .now(),
                lifetime: lifetime.duration
            )
        )
    }
}

/// `counterfoil token admin`.
struct AdminTokenCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "admin",
        abstract: "Signs a token for an administrator.",
        discussion: """
            A token may do what its key may do, or less: --scope names what is left.

            Example:
              counterfoil token admin --scope read --scope support
            """
    )

    @OptionGroup var keys: KeysOption
    @OptionGroup var admin: AdminOption
    @OptionGroup var lifetime: LifetimeOption

    @Option(
        name: .customLong("scope"),
        help: "A scope that the token keeps: read, support, operator or merchandiser (repeatable).",
        transform: AdministratorScope.option
    )
    var scopes: [AdministratorScope] = []

    func perform() async throws {
        Console.say(
            try await admin.token(
                keys: keys.directory,
                at: .now(),
                lifetime: lifetime.duration,
                scopes: scopes
            )
        )
    }
}

/// The option for a token's lifetime.
struct LifetimeOption: ParsableArguments {
    @Option(help: "For how many seconds the token is valid, from 1 to 86400.")
    var lifetime = 3600

    var duration: Duration { .seconds(lifetime) }

    func validate() throws {
        guard (1...86_400).contains(lifetime) else {
            throw ValidationError("--lifetime must be from 1 to 86400 seconds.")
        }
    }
}
