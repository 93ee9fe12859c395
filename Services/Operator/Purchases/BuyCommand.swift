import ArgumentParser
import ClockAndIDs
import EventTypes
import Foundation
import OperatorCore
import StoreAPI

/// `counterfoil buy`: one purchase, as an app would make it.
struct BuyCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "buy",
        abstract: "Makes one purchase, from looking up the product to finishing the transaction.",
        discussion: """
            Payment methods of the sandbox:
              \(SandboxPaymentMethod.allCases.map(\.rawValue).joined(separator: "\n  "))

            A key pays once. If the answer is lost, repeat the command with the key that it names.

            Examples:
              counterfoil buy com.example.coins.100 --account ada
              counterfoil buy com.example.pro --account ada --storefront FRA --language fr
              counterfoil buy com.example.pro --account ada --payment-method sandbox_decline
            """
    )

    @OptionGroup var store: StoreOptions
    @OptionGroup var keys: KeysOption
    @OptionGroup var app: AppOptions

    @Argument(help: "The product to buy.", transform: identifier)
    var product: ProductID

    @Option(help: "The account that buys.", transform: identifier)
    var account: AccountID

    @Option(help: "The storefront to buy in (default: USA).", transform: identifier)
    var storefront: Storefront = Storefront(unchecked: "USA")

    @Option(help: "The language of the product's title (default: en-US).", transform: identifier)
    var language: LanguageTag = LanguageTag(unchecked: "en-US")

    @Option(help: "The quantity, from 1 to 10.")
    var quantity = 1

    @Option(help: "The payment method to charge.")
    var paymentMethod = SandboxPaymentMethod.success.rawValue

    @Option(
        help: "The key under which the purchase is paid once (default: a new one).",
        transform: identifier
    )
    var key: IdempotencyKey?

    @Option(help: "How many seconds to wait until the purchase is complete.")
    var timeout = 30

    @Flag(help: "Leave the transaction unfinished in the queue.")
    var noFinish = false

    func validate() throws {
        guard (1...3600).contains(timeout) else {
            throw ValidationError("--timeout must be from 1 to 3600 seconds.")
        }
    }

    func perform() async throws {
        let token = try await app.token(
            for: account,
            keys: keys.directory,
            at: .now(),
            lifetime: .seconds(3_600 + 600)
        )
        let prints = !store.json
        let purchase = Purchase(
            catalog: store.connection(to: .catalog, token: token),
            payments: store.connection(to: .payments, token: token),
            fulfillment: store.connection(to: .fulfillment, token: token),
            deadline: .now + .seconds(timeout),
            tell: { line in if prints { Console.say(line) } }
        )
        let listing = try await purchase.listing(
            of: product,
            in: storefront,
            language: language
        )
        let request = PaymentRequest(
            productID: product,
            quantity: quantity,
            storefront: storefront,
            price: listing.price,
            paymentMethod: PaymentMethod(rawValue: paymentMethod)
        )
        let transaction = try await askOnce(under: key, "it pays once") { key in
            try await purchase.pay(request, under: key)
        }
        var outcome = try await purchase.outcome(of: transaction.id)
        if !noFinish && outcome.finishedAt == nil {
            outcome.finishedAt = try await purchase.finish(transaction.id).finishedAt
        }
        if store.json {
            try Console.say(json: outcome)
        } else if outcome.transaction.purchasedAt != nil {
            Console.say("order \(OrderID(outcome.transaction.originalID))")
        }
        if outcome.transaction.state == .failed {
            throw OperatorError(
                .failed,
                "The payment failed: \(outcome.transaction.failureReason?.rawValue ?? "unknown")."
            )
        }
    }
}
