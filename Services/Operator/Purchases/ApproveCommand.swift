import ArgumentParser
import StoreAPI

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
