import EventTypes
import Foundation
import Logging
import NIOHTTP1
package import StoreAPI
package import StripeStandIn
import Synchronization

/// A stand-in for Stripe beside a store, and the cards that the store's buyers have saved there.
///
/// The store may have several accounts there. An id says at which account its object is.
///
/// It runs in this process, so it outlives every process of the store. It tells the store of every
/// change twice and out of order.
package final class StoreStripe: Sendable {
    /// A card of an account.
    private struct Card: Hashable {
        let account: AccountID
        let name: String
    }

    /// A setup that its buyer has confirmed, as Stripe's API names its members.
    private struct Confirmation: Decodable {
        let payment_method: PaymentMethod
    }

    /// The stand-in.
    package let server: StandInServer
    /// Its address, without a slash at its end.
    package let url: String
    private let cards = Mutex<[Card: PaymentMethod]>([:])
    private let running = Mutex<Task<Void, any Error>?>(nil)

    private static func key(of account: String) -> String {
        account == StandInOptions().name ? "rk_test_of_the_harness" : "rk_test_of_\(account)"
    }

    private static func secret(of account: String) -> String {
        account == StandInOptions().name ? "whsec_of_the_harness" : "whsec_of_\(account)"
    }

    /// Describes a stand-in, which ``start()`` starts.
    ///
    /// - Parameters:
    ///   - port: Its port.
    ///   - stores: The base URLs of the processes that take webhooks.
    ///   - endsProcessing: Whether it ends by itself what it processes.
    ///   - accounts: The names of further accounts.
    init(port: Int, telling stores: [String], endsProcessing: Bool, accounts: [String] = []) {
        var first = Self.options(
            of: StandInOptions().name,
            telling: stores.map { $0 + Routes.stripeEvents }
        )
        first.port = port
        first.processingSeconds = endsProcessing ? 2 : nil
        // One account takes every key, so that a test can choose it.
        if !accounts.isEmpty { first.keys = [Self.key(of: first.name)] }
        for name in accounts {
            var other = Self.options(
                of: name,
                telling: stores.map { $0 + Routes.stripeAccountEvents(name) }
            )
            other.processingSeconds = first.processingSeconds
            other.series = name
            other.keys = [Self.key(of: name)]
            first.others.append(other)
        }
        server = StandInServer(first)
        url = "http://127.0.0.1:\(port)"
    }

    /// The settings of an account that sends webhooks to addresses.
    private static func options(of name: String, telling urls: [String]) -> StandInOptions {
        var options = StandInOptions()
        options.name = name
        var webhooks = StandInOptions.Webhooks(urls: urls, secrets: [secret(of: name)])
        webhooks.isDoubled = true
        webhooks.isReversed = true
        webhooks.types = events
        options.webhooks = webhooks
        return options
    }

    /// The kinds of events that a store wants, as `docs/stripe.md` lists them.
    private static let events: Set<String> = [
        "payment_intent.succeeded", "payment_intent.payment_failed", "payment_intent.canceled",
        "payment_intent.processing", "payment_intent.requires_action", "refund.updated",
        "refund.failed", "setup_intent.succeeded", "charge.dispute.created",
        "charge.dispute.updated", "charge.dispute.funds_withdrawn",
        "charge.dispute.funds_reinstated", "charge.dispute.closed",
        "payment_method.automatically_updated", "payment_method.updated",
        "payment_method.detached",
    ]

    /// Writes the files of secrets, and returns the settings with which `payments` charges there.
    ///
    /// The key of the account `games` is in `stripe-accounts/games/key`.
    static func settings(
        port: Int,
        in directory: String,
        accounts: [String] = []
    ) throws -> [String: String] {
        let (keyPath, secretsPath) = (directory + "/stripe-key", directory + "/stripe-webhooks")
        let first = StandInOptions().name
        try Data(key(of: first).utf8).write(to: URL(fileURLWithPath: keyPath))
        try Data(secret(of: first).utf8).write(to: URL(fileURLWithPath: secretsPath))
        let folder = URL(fileURLWithPath: directory + "/stripe-accounts")
        for name in accounts {
            let own = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
            try Data(key(of: name).utf8).write(to: own.appendingPathComponent("key"))
            try Data(secret(of: name).utf8)
                .write(to: own.appendingPathComponent("webhook-secrets"))
        }
        var settings = [
            "PROCESSOR": "stripe", "STRIPE_KEY_FILE": keyPath,
            "STRIPE_WEBHOOK_SECRETS_FILE": secretsPath,
            "STRIPE_API_URL": "http://127.0.0.1:\(port)",
            "STRIPE_RETURN_URL": "https://app.example.com/back", "STRIPE_TIMEOUT_MS": "1000",
            "STRIPE_CALLS_PER_SECOND": "1000", "STRIPE_ENDPOINT_CALLS_PER_SECOND": "1000",
            "STRIPE_EVENTS_MS": "3000", "STRIPE_MOVEMENTS_MS": "1000",
            "PROCESSOR_LEASE_MS": "3500", "PROCESSOR_CALLS_MAX": "50",
        ]
        guard !accounts.isEmpty else { return settings }
        settings["STRIPE_ACCOUNTS"] = accounts.joined(separator: ",")
        settings["STRIPE_ACCOUNTS_DIRECTORY"] = folder.path
        return settings
    }

    /// Starts it, and waits until it answers.
    ///
    /// - Throws: An error if it cannot start, as when somebody else has its port.
    func start() async throws {
        let (starts, started) = AsyncStream<Void>.makeStream()
        let task = Task { [server] in
            defer { started.finish() }
            let logger = Logger(label: "stand-in") { _ in SwiftLogNoOpLogHandler() }
            try await server.run(logger: logger) { _ in started.yield() }
        }
        running.withLock { $0 = task }
        for await _ in starts { return }
        // It has ended before it has answered.
        try await task.value
    }

    /// Stops it.
    func stop() async {
        let task = running.withLock { $0 }
        task?.cancel()
        _ = await task?.result
    }

    // MARK: - Cards

    /// The card that does what a payment method of the sandbox does; `nil` if no card does.
    package static func card(for method: SandboxPaymentMethod) -> String? {
        switch method {
        case .success: "pm_card_visa"
        case .decline: "pm_card_chargeDeclined"
        case .insufficientFunds: "pm_card_visa_chargeDeclinedInsufficientFunds"
        case .unknownCharged: "pm_standInLostAfter"
        case .unknownNotCharged: "pm_standInLostBefore"
        case .slow: "pm_standInSlow"
        case .flaky: "pm_standInDown"
        case .renewalDeclined: "pm_standInDeclinedAway"
        case .renewalRecovers: "pm_standInRecovers"
        case .processing: "pm_standInProcessing"
        case .needsAction: "pm_card_threeDSecure2Required"
        case .throttled: "pm_standInRateLimit"
        case .refundPending: "pm_card_pendingRefund"
        case .cancelled, .interrupted, .needsApproval, .storedError, .wrongAmount, .refundFailed:
            nil
        }
    }

    /// The buyer's saved card for a payment method of the sandbox.
    package func saved(
        _ method: SandboxPaymentMethod,
        of client: StoreClient
    ) async throws -> PaymentMethod {
        try await saved(method.method, of: client)
    }

    /// The buyer's saved card for a payment method of the sandbox.
    ///
    /// - Parameters:
    ///   - method: The payment method. Any other one, and one that no card is like, is returned as it
    ///     is.
    ///   - client: The buyer's client.
    /// - Returns: The saved card, which is saved now if it was not before.
    /// - Throws: An error if it cannot be saved.
    func saved(_ method: PaymentMethod, of client: StoreClient) async throws -> PaymentMethod {
        guard let name = SandboxPaymentMethod(method).flatMap(Self.card) else { return method }
        return try await save(name, of: client)
    }

    /// Saves a card as an app does, unless the buyer has saved it before.
    ///
    /// - Parameters:
    ///   - name: Stripe's name of the test card.
    ///   - client: The buyer's client.
    /// - Returns: The saved card.
    /// - Throws: An error if it cannot be saved.
    package func save(_ name: String, of client: StoreClient) async throws -> PaymentMethod {
        let card = Card(account: client.account, name: name)
        if let saved = cards.withLock({ $0[card] }) { return saved }
        let setups = client.urls.payments + Routes.paymentMethodSetups
        let setup = try await client.raw(.POST, setups).decode(PaymentMethodSetupResponse.self)
        let confirmation = try await post(
            "setup_intents/\(setup.id)/confirm",
            "payment_method=\(name)"
        )
        let saved = try confirmation.decode(Confirmation.self).payment_method
        let methods = try await client.raw(.POST, "\(setups)/\(setup.id)")
            .decode(PaymentMethodsResponse.self)
        guard methods.paymentMethods.contains(where: { $0.paymentMethod == saved }) else {
            throw HarnessError("\(client.account) has not saved \(name).")
        }
        return cards.withLock { cards in
            // Of two that were saved at once, all pay with the first.
            if let first = cards[card] { return first }
            cards[card] = saved
            return saved
        }
    }

    /// Revokes the key of an account, as somebody may do on Stripe's pages.
    package func revokeKey(of account: String) {
        server.account(named: account)?.revoke(Self.key(of: account))
    }

    /// Makes another key of an account, as somebody may do on Stripe's pages, and returns it.
    package func issueKey(of account: String) -> String {
        let key = Self.key(of: account) + "_too"
        server.account(named: account)?.issue(key)
        return key
    }

    /// Forgets the saved cards, so that buyers save new ones, as after their app has moved.
    package func forgetCards() { cards.withLock { $0 = [:] } }

    /// Calls the stand-in as somebody does who has the key.
    ///
    /// - Parameters:
    ///   - path: The path after `/v1/`.
    ///   - form: The parameters.
    ///   - account: The account; by default the one that has the object of the path.
    /// - Returns: The answer.
    /// - Throws: An error if there is none.
    package func post(
        _ path: String,
        _ form: String,
        to account: String? = nil
    ) async throws -> StoreResponse {
        let object = path.split(separator: "/").dropFirst().first.map(String.init)
        let owner = object.flatMap { server.account(of: $0) } ?? server
        return try await StoreHTTP.send(
            .POST,
            "\(url)/v1/\(path)",
            headers: [("authorization", "Bearer \(Self.key(of: account ?? owner.name))")],
            body: Array(form.utf8)
        )
    }
}
