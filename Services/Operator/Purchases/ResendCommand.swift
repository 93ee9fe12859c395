import ArgumentParser
import ClockAndIDs
import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// `counterfoil resend`.
struct ResendCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "resend",
        abstract: "Sends a transaction's webhooks to the merchant again.",
        discussion: """
            Each webhook keeps its id, so a recipient that remembers ids does nothing twice. A \
            webhook that was delivered stays delivered, even if sending it again fails. \
            A replay never sends webhooks again; this command does.

            Example:
              counterfoil resend 2175520387220000
            """
    )

    @OptionGroup var options: TransactionOptions

    func perform() async throws {
        let connection = options.store.connection(
            to: .fulfillment,
            token: try await options.admin.token(
                keys: options.keys.directory,
                at: .now(),
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
                : "Transaction \(options.transaction): webhooks sent again: \(answer.webhooks)."
        )
    }
}
