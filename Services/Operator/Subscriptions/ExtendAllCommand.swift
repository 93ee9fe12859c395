import ArgumentParser
import EventTypes
import Foundation
import NIOHTTP1
import OperatorCore
import StoreAPI

/// `counterfoil subscriptions extend-all`.
struct ExtendAllCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "extend-all",
        abstract: "Gives all subscribers of a product days for nothing, as after an outage.",
        discussion: """
            The store works on it after the command has ended. Each subscription is extended as by \
            'extend'. One that cannot be extended counts as failed.

            The request has a key, and is made once for each key. Repeat the command with the key that \
            it names to see how far the request has come.

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
    @OptionGroup var why: ReasonOption

    @Argument(help: "The product.", transform: identifier)
    var product: ProductID

    @Option(help: "The app of the subscribers, by its bundle id.", transform: identifier)
    var app: BundleID

    @Option(help: "The number of days, from 1 to 90.")
    var days: Int

    @Option(
        name: .customLong("storefront"),
        help: "A storefront whose subscribers are extended; repeat it (default: all).",
        transform: identifier
    )
    var storefronts: [Storefront] = []

    @Option(
        help: "The key under which they are extended once (default: a new one).",
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
        let request: MassExtension
        do {
            request = try await access.connection(of: store).send(
                .POST,
                Routes.adminMassExtensions,
                .json(
                    MassExtensionRequest(
                        bundleID: app,
                        productID: product,
                        days: days,
                        storefronts: storefronts.isEmpty ? nil : storefronts,
                        reason: why.reason
                    ),
                    headers: [("Idempotency-Key", key.rawValue)]
                ),
                as: MassExtensionResponse.self
            ).request
        } catch {
            guard error.code == .unavailable else { throw error }
            throw OperatorError(
                .unavailable,
                "\(error) Repeat the command with --key \(key): it extends once."
            )
        }
        if store.json { return try Console.say(json: MassExtensionResponse(request: request)) }
        let counts = "\(request.succeededCount) extended, \(request.failedCount) failed"
        Console.say(
            request.completedAt == nil
                ? "under way: \(counts) so far; repeat the command with --key \(key) to see more"
                : "complete: \(counts)"
        )
    }
}
