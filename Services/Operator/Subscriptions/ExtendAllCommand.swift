import ArgumentParser
import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// `counterfoil subscriptions extend-all`.
struct ExtendAllCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "extend-all",
        abstract: "Extends all subscriptions to a product by days that cost nothing.",
        discussion: """
            The command records a request and ends. The store then extends each subscription as \
            'extend' does. A subscription that cannot be extended counts as failed.

            The request has a key, and is made once for each key. To see how far the store has \
            come, repeat the command with the key that it names.

            JSON:
              {"request": {"number", "succeededCount", "failedCount", "completedAt"?, ...}}

            Examples:
              counterfoil subscriptions extend-all club --app com.example.app --days 3
              counterfoil subscriptions extend-all club --app com.example.app --days 3 \\
                --key outage-7 --storefront USA --storefront CAN
            """
    )

    @OptionGroup var store: StoreOptions
    @OptionGroup var access: SubscriptionAccess
    @OptionGroup var extent: ExtensionOptions

    @Argument(help: "The product.", transform: identifier)
    var product: ProductID

    @Option(help: "The app of the subscribers, by its bundle id.", transform: identifier)
    var app: BundleID

    @Option(
        name: .customLong("storefront"),
        help: "Extend in this storefront; may be repeated (default: all storefronts).",
        transform: identifier
    )
    var storefronts: [Storefront] = []

    func perform() async throws {
        try await extent.underKey { key in
            let answer = try await access.connection(of: store).send(
                .POST,
                Routes.adminMassExtensions,
                .json(
                    MassExtensionRequest(
                        bundleID: app,
                        productID: product,
                        days: extent.days,
                        storefronts: storefronts.isEmpty ? nil : storefronts,
                        reason: extent.why.reason
                    ),
                    headers: [("Idempotency-Key", key.rawValue)]
                ),
                as: MassExtensionResponse.self
            )
            if store.json { return try Console.say(json: answer) }
            let request = answer.request
            let counts = "\(request.succeededCount) extended, \(request.failedCount) failed"
            Console.say(
                request.completedAt == nil
                    ? "under way: \(counts) so far; repeat the command with --key \(key) to see more"
                    : "complete: \(counts)"
            )
        }
    }
}
