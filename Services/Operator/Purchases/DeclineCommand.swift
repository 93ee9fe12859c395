import ArgumentParser
import OperatorCore
import StoreAPI

/// `counterfoil decline`.
struct DeclineCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "decline",
        abstract: "Declines a deferred transaction (Ask to Buy); nothing is charged.",
        discussion: """
            Example:
              counterfoil decline 2175520387220000 --reason "asked by phone"
            """
    )

    @OptionGroup var options: TransactionOptions
    @OptionGroup var why: ReasonOption

    func perform() async throws {
        try await options.act(
            on: Routes.approval(options.transaction),
            .json(ApprovalRequest(decision: .decline, reason: why.reason))
        )
    }
}
