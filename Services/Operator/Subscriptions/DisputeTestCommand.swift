import ArgumentParser
import OperatorCore
import StoreAPI

/// `counterfoil test dispute`.
struct DisputeTestCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "dispute",
        abstract: "Has the buyer's bank dispute a purchase, or ends the dispute.",
        discussion: """
            The steps are 'inquire', which moves no money, 'open', by which the bank takes it, \
            'win', which brings it back, and 'lose'.
            """
    )

    @OptionGroup var options: TransactionOptions

    @Option(help: "The step: inquire, open, win or lose.")
    var step = TestDisputeRequest.Step.open.rawValue

    func validate() throws {
        guard TestDisputeRequest.Step(rawValue: step) == nil else { return }
        throw ValidationError("--step is inquire, open, win or lose.")
    }

    func perform() async throws {
        try await options.act(
            on: Routes.testDispute(options.transaction),
            .json(TestDisputeRequest(step: TestDisputeRequest.Step(rawValue: step) ?? .open))
        )
    }
}
