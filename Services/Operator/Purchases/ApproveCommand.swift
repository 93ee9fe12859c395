import ArgumentParser
import OperatorCore
import StoreAPI

/// `counterfoil approve`.
struct ApproveCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approves a deferred transaction (Ask to Buy), which is then charged.",
        discussion: """
            Example:
              counterfoil approve 2175520387220000 --reason "asked by phone"
            """
    )

    @OptionGroup var options: TransactionOptions
    @OptionGroup var why: ReasonOption

    func perform() async throws {
        try await options.act(
            on: Routes.approval(options.transaction),
            .json(ApprovalRequest(decision: .approve, reason: why.reason))
        )
    }
}
