import ArgumentParser
import EventTypes
import Foundation
import OperatorCore
import StoreAPI

/// `counterfoil refund`.
struct RefundCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "refund",
        abstract: "Refunds a purchase, in full or in part, or reverses a refund.",
        discussion: """
            Without an amount, the rest is refunded: the part of the price not given back yet. The \
            refund takes the product away if nothing is left to refund afterwards; after the refund \
            of a part the buyer keeps it. --revoke and --keep say otherwise.

            Refunds are numbered from 1; 'counterfoil why ID' lists them. --reverse records that \
            the processor got the money of a refund back. A product that the refund took away is \
            then the buyer's again.

            A refund with an amount has a key, and is carried out once for each key. If the answer \
            is lost, repeat the command with the key that it names.

            Examples:
              counterfoil refund 2175520387220000 --reason damaged
              counterfoil refund 2175520387220000 --amount 1.50
              counterfoil refund 2175520387220000 --amount 1.50 --revoke --key case-4711
              counterfoil refund 2175520387220000 --reverse 1
            """
    )

    @OptionGroup var options: TransactionOptions
    @OptionGroup var why: ReasonOption

    @Option(help: "The amount to refund, in the currency of the purchase, such as 1.50.")
    var amount: String?

    @Flag(help: "Take the product away from the buyer.")
    var revoke = false

    @Flag(help: "Leave the buyer the product.")
    var keep = false

    @Option(help: "The number of the refund to reverse.")
    var reverse: Int?

    @Option(
        help: "The key under which the refund is carried out once (default: a new one).",
        transform: identifier
    )
    var key: IdempotencyKey?

    func validate() throws {
        guard !(revoke && keep) else {
            throw ValidationError("--revoke and --keep contradict each other.")
        }
        guard let reverse else { return }
        guard reverse > 0 else { throw ValidationError("Refunds are numbered from 1.") }
        guard amount == nil, !revoke, !keep, key == nil else {
            throw ValidationError(
                "--reverse reverses a refund in full and takes no other option but --reason."
            )
        }
    }

    func perform() async throws {
        if let reverse {
            return try await options.act(
                on: Routes.refundReversal(options.transaction, reverse),
                .json(RefundReversalRequest(reason: why.reason))
            )
        }
        let body = RefundRequest(
            amount: try await money(),
            revokes: revoke ? true : keep ? false : nil,
            reason: why.reason
        )
        let key = key ?? IdempotencyKey(unchecked: UUID().uuidString)
        do {
            try await options.act(
                on: Routes.refund(options.transaction),
                .json(body, headers: [("Idempotency-Key", key.rawValue)])
            )
        } catch let error as OperatorError where error.code == .unavailable {
            throw OperatorError(
                .unavailable,
                "\(error) Repeat the refund with --key \(key): it is carried out once."
            )
        }
    }

    /// The amount in the currency of the purchase; `nil` if none is named.
    private func money() async throws -> Money? {
        guard let amount else { return nil }
        let currency = try await options.transactionNow().price.currency
        guard let money = Money(decimal: amount, currency: currency) else {
            throw OperatorError(
                .usage,
                """
                \(amount) is no amount in \(currency), which has \(currency.exponent) decimal \
                places. Write it with a point and without the currency.
                """
            )
        }
        return money
    }
}
