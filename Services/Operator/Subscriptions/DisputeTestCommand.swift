public import ArgumentParser
import OperatorCore
public import StoreAPI

/// `counterfoil test dispute`.
struct DisputeTestCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "dispute",
        abstract: "Has the buyer's bank dispute a purchase, or ends the dispute.",
        discussion: """
            The steps of a dispute:
              'inquire'   the bank asks about the purchase, and no money moves
              'open'      the bank takes the money from the store
              'win'       the store wins, and the bank gives the money back
              'lose'      the store loses, and the buyer keeps the money

            Examples:
              counterfoil test dispute 2175520387220000
              counterfoil test dispute 2175520387220000 --step win
            """
    )

    @OptionGroup var options: TransactionOptions

    @Option(help: "The step that the dispute takes now.")
    var step = TestDisputeRequest.Step.open

    func perform() async throws {
        try await options.act(
            on: Routes.testDispute(options.transaction),
            .json(TestDisputeRequest(step: step))
        )
    }
}

extension TestDisputeRequest.Step: ExpressibleByArgument {}
