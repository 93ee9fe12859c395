import ArgumentParser
import ClockAndIDs
import EventTypes
import NIOHTTP1
import StoreAPI

/// `counterfoil resend`.
struct ResendCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "resend",
        abstract: "Sends the webhooks of a transaction to the merchant again.",
        discussion: """
            Example: counterfoil resend 1000000000000001

            Each goes out under the id it has, so a recipient that remembers ids does nothing twice. What \
            was delivered stays delivered, whatever comes of it. A replay sends none again.
            """
    )

    @OptionGroup var options: TransactionOptions

    func perform() async throws {
        let connection = options.store.connection(
            to: .fulfillment,
            token: try await options.admin.token(
                keys: options.keys.directory,
                at: .wallClock(),
                lifetime: .seconds(300)
            )
        )
        let answer = try await connection.send(
            .POST,
            Routes.webhooks(options.transaction),
            as: WebhooksAgainResponse.self
        )
        if options.store.json { return try Console.say(json: answer) }
        Console.say(
            answer.webhooks == 0
                ? "Transaction \(options.transaction) has no webhooks."
                : "Transaction \(options.transaction): \(answer.webhooks) webhooks are sent again."
        )
    }
}
