public import ArgumentParser
import EventTypes
import NIOHTTP1
import OperatorCore
public import StoreAPI

/// `counterfoil test raise`.
struct RaiseTestCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "raise",
        abstract: "Asks a subscriber about a higher price now.",
        discussion: """
            The next renewal costs it if the subscriber agrees, and no more than the catalog says. \
            So raise the price of the product as well, as with 'products price'. 'test answer' \
            answers for the subscriber.

            Example:
              counterfoil test raise 2175520387220000 3.99
            """
    )

    @OptionGroup var options: SubscriptionOptions

    @Argument(help: "The price of one period, in units of the subscription's currency: 3.99.")
    var amount: String

    func perform() async throws {
        let subscription = try await options.connection().send(
            .GET,
            Routes.adminSubscription(options.subscription),
            as: SubscriptionResponse.self
        ).subscription
        let currency = subscription.product.price.currency
        guard let price = Money(amount, currency) else {
            throw OperatorError(
                .usage,
                "'\(amount)' is not a price in \(currency): write it as \(Money.example(currency))."
            )
        }
        try await options.post(
            Routes.testPriceIncrease,
            .json(TestPriceIncreaseRequest(price: price))
        )
    }
}

/// `counterfoil test answer`.
struct AnswerTestCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "answer",
        abstract: "Answers the question about a higher price, as the subscriber does.",
        discussion: """
            Example:
              counterfoil test answer 2175520387220000 agree
            """
    )

    @OptionGroup var options: SubscriptionOptions

    @Argument(help: "The answer: 'agree' or 'decline'.")
    var answer: PriceIncreaseDecisionRequest.Decision

    func perform() async throws {
        try options.show(
            try await options.connection().send(
                .PUT,
                Routes.testPriceIncrease(options.subscription),
                .json(PriceIncreaseDecisionRequest(decision: answer)),
                as: SubscriptionResponse.self
            )
        )
    }
}

extension PriceIncreaseDecisionRequest.Decision: ExpressibleByArgument {}
