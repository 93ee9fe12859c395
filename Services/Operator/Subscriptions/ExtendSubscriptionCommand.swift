import ArgumentParser
import EventTypes
import OperatorCore
import StoreAPI

/// `counterfoil subscriptions extend`.
struct ExtendSubscriptionCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "extend",
        abstract: "Extends a subscription by days that cost nothing, as after an outage.",
        discussion: """
            The running period ends later, and the next one begins then. The price of the next \
            period does not change. A subscription is extended at most twice within 365 days, by \
            at most 90 days each time. It has to be active, and its period must have a price.

            The extension has a key, and is made once for each key. If the answer is lost, repeat \
            the command with the key that it names.

            Examples:
              counterfoil subscriptions extend 2175520387220000 --days 3
              counterfoil subscriptions extend 2175520387220000 --days 3 --key outage-7
            """
    )

    @OptionGroup var options: SubscriptionOptions
    @OptionGroup var extent: ExtensionOptions

    func perform() async throws {
        try await extent.underKey { key in
            try await options.post(
                Routes.adminExtensions,
                .json(
                    ExtensionRequest(days: extent.days, reason: extent.why.reason),
                    headers: [("Idempotency-Key", key.rawValue)]
                )
            )
        }
    }
}
