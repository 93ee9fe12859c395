import ArgumentParser
import StoreAPI

/// `counterfoil refund`.
struct RefundCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "refund",
        abstract: "Refunds a purchase in full.",
        discussion: "Example: counterfoil refund 2175520387220000"
    )

    @OptionGroup var options: TransactionOptions

    func perform() async throws {
        try await options.act(on: Routes.refund(options.transaction))
    }
}
