import ArgumentParser
import StoreAPI

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
