import ArgumentParser
import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// The options and the requests that all commands on one subscription share.
struct SubscriptionOptions: ParsableArguments {
    @OptionGroup var store: StoreOptions
    @OptionGroup var access: SubscriptionAccess

    @Argument(
        help: "The subscription's id, which is that of its first transaction.",
        transform: identifier
    )
    var subscription: TransactionID

    func connection() async throws(OperatorError) -> StoreConnection {
        try await access.connection(of: store)
    }

    /// Turns the renewal on or off and prints the subscription.
    func setAutoRenew(_ isOn: Bool, because reason: ActReason?) async throws {
        try show(
            try await connection().send(
                .PUT,
                Routes.adminAutoRenew(subscription),
                .json(AutoRenewRequest(isOn: isOn, reason: reason)),
                as: SubscriptionResponse.self
            )
        )
    }

    /// Sends a request about the subscription, and prints it.
    func post(
        _ path: (TransactionID) -> String,
        _ content: StoreConnection.Content? = nil
    ) async throws {
        try show(
            try await connection().send(
                .POST,
                path(subscription),
                content ?? .none,
                as: SubscriptionResponse.self
            )
        )
    }

    /// Prints a subscription.
    func show(_ answer: SubscriptionResponse) throws {
        if store.json {
            try Console.say(json: answer.subscription)
        } else {
            Console.say(SubscriptionReport.text(of: answer.subscription))
        }
    }
}
