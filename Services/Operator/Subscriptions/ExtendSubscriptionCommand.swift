import ArgumentParser
import EventTypes
import Foundation
import OperatorCore
import StoreAPI

/// `counterfoil subscriptions extend`.
struct ExtendSubscriptionCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "extend",
        abstract: "Gives a subscriber days for nothing, as after an outage.",
        discussion: """
            The running period ends later, and the next one begins then. The price of the next \
            period does not change. A subscription is extended at most twice within 365 days, by \
            at most 90 days each time, and only while it is active and not free.

            The extension has a key, and is made once for each key. If the answer is lost, repeat \
            the command with the key that it names.

            Examples:
              counterfoil subscriptions extend 2175520387220000 --days 3
              counterfoil subscriptions extend 2175520387220000 --days 3 --key outage-7
            """
    )

    @OptionGroup var options: SubscriptionOptions
    @OptionGroup var why: ReasonOption

    @Option(help: "The number of days, from 1 to 90.")
    var days: Int

    @Option(
        help: "The key under which it is extended once (default: a new one).",
        transform: identifier
    )
    var key: IdempotencyKey?

    func validate() throws {
        guard (1...90).contains(days) else {
            throw ValidationError("--days is a number from 1 to 90.")
        }
    }

    func perform() async throws {
        let key = key ?? IdempotencyKey(unchecked: UUID().uuidString)
        do {
            try await options.post(
                Routes.adminExtensions,
                .json(
                    ExtensionRequest(days: days, reason: why.reason),
                    headers: [("Idempotency-Key", key.rawValue)]
                )
            )
        } catch let error as OperatorError where error.code == .unavailable {
            throw OperatorError(
                .unavailable,
                "\(error) Repeat the command with --key \(key): it extends once."
            )
        }
    }
}
