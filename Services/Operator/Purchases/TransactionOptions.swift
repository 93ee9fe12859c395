import ArgumentParser
import ClockAndIDs
import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// The options and the request that all commands on one transaction share.
struct TransactionOptions: ParsableArguments {
    @OptionGroup var store: StoreOptions
    @OptionGroup var keys: KeysOption
    @OptionGroup var admin: AdminOption

    @Argument(help: "The transaction's id.", transform: identifier)
    var transaction: TransactionID

    /// Sends a request about the transaction and prints the transaction's new state.
    func act(
        on path: String,
        _ content: StoreConnection.Content = .none
    ) async throws {
        let connection = try await connection()
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

    /// Reads the transaction.
    func transactionNow() async throws -> Transaction {
        try await connection().send(
            .GET,
            "\(Routes.adminTransactions)/\(transaction)",
            as: TransactionResponse.self
        ).transaction
    }

    private func connection() async throws -> StoreConnection {
        store.connection(
            to: .payments,
            token: try await admin.token(
                keys: keys.directory,
                at: .now(),
                lifetime: .seconds(300)
            )
        )
    }

    /// A transaction in one line.
    static func summary(of transaction: Transaction) -> String {
        var line =
            "Transaction \(transaction.id): \(transaction.quantity) × \(transaction.productID), "
            + "\(transaction.price), \(transaction.state)"
        if let reason = transaction.failureReason { line += " (\(reason))" }
        if !transaction.refundedAmount.isZero { line += ", \(transaction.refundedAmount) refunded" }
        if let revokedAt = transaction.revokedAt { line += ", taken away at \(revokedAt)" }
        return line
    }
}
