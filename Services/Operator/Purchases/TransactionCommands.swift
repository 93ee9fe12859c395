import ArgumentParser
import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI

/// What the commands on one transaction have in common.
struct TransactionOptions: ParsableArguments {
    @OptionGroup var store: StoreOptions
    @OptionGroup var keys: KeysOption
    @OptionGroup var admin: AdminOption

    @Argument(help: "The transaction's id.", transform: identifier)
    var transaction: TransactionID

    /// Sends a request about the transaction and prints how it stands after it.
    func act(
        on path: String,
        _ content: StoreConnection.Content = .none
    ) async throws {
        let connection = store.connection(
            to: .payments,
            token: try admin.token(
                keys: keys.directory,
                at: .wallClock(),
                lifetime: .seconds(300)
            )
        )
        let answer = try await connection.send(
            .POST,
            path,
            content,
            as: TransactionResponse.self
        )
        if store.json {
            try Console.say(json: answer.transaction)
        } else {
            Console.say(Self.summary(of: answer.transaction))
        }
    }

    /// A transaction in one line.
    static func summary(of transaction: Transaction) -> String {
        var line =
            "Transaction \(transaction.id): \(transaction.quantity) × \(transaction.productID), "
            + "\(transaction.price), \(transaction.state)"
        if let reason = transaction.failureReason { line += " (\(reason))" }
        if let revokedAt = transaction.revokedAt { line += ", refunded at \(revokedAt)" }
        return line
    }
}

/// `counterfoil refund`.
struct RefundCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "refund",
        abstract: "Gives a purchase's money back in full.",
        discussion: "Example: counterfoil refund 1000000000000001"
    )

    @OptionGroup var options: TransactionOptions

    func perform() async throws {
        try await options.act(on: Routes.refund(options.transaction))
    }
}

/// `counterfoil approve`.
struct ApproveCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Lets a deferred transaction (Ask to Buy) be charged.",
        discussion: "Example: counterfoil approve 1000000000000001"
    )

    @OptionGroup var options: TransactionOptions

    func perform() async throws {
        try await options.act(
            on: Routes.approval(options.transaction),
            .json(ApprovalRequest(decision: .approve))
        )
    }
}

/// `counterfoil decline`.
struct DeclineCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "decline",
        abstract: "Ends a deferred transaction (Ask to Buy) without a charge.",
        discussion: "Example: counterfoil decline 1000000000000001"
    )

    @OptionGroup var options: TransactionOptions

    func perform() async throws {
        try await options.act(
            on: Routes.approval(options.transaction),
            .json(ApprovalRequest(decision: .decline))
        )
    }
}

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
            token: try options.admin.token(
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
