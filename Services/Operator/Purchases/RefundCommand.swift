import ArgumentParser
import StoreAPI

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
