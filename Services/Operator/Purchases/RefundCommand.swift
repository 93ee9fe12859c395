import ArgumentParser
import EventTypes
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
    @OptionGroup var extent: RefundExtent

    @Option(help: "The number of the refund to reverse.")
    var reverse: Int?

    @Option(
        help: "The key under which the refund is carried out once (default: a new one).",
        transform: identifier
    )
    var key: IdempotencyKey?

    func validate() throws {
        guard let reverse else { return }
        guard reverse > 0 else { throw ValidationError("Refunds are numbered from 1.") }
        guard extent.amount == nil, extent.revokes == nil, key == nil else {
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
        var amount: Money?
        if extent.amount != nil {
            amount = try extent.money(in: try await options.transactionNow().price.currency)
        }
        let body = RefundRequest(
            amount: amount,
            revokes: extent.revokes,
            reason: why.reason
        )
        try await sendOnce(under: key, "it refunds once") { key in
            try await options.act(
                on: Routes.refund(options.transaction),
                .json(body, headers: [("Idempotency-Key", key.rawValue)])
            )
        }
    }
}
