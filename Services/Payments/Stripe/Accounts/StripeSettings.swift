import EventTypes
import Foundation
import ServiceKit
import Stripe

/// The settings of a store that takes money with Stripe.
struct StripeSettings: Sendable {
    /// The account of the apps that have no other.
    let first: StripeAccountSettings
    let others: [StripeAccountSettings]
    /// The accounts of the apps that do not use the first one.
    let apps: [BundleID: ProcessorAccountName]
    let client: StripeClient.Settings
    let callsPerSecond: Int
    let endpointCallsPerSecond: Int
    /// The addresses to which buyers come back from their bank's page.
    let returnURLs: ReturnURLs
    /// The pause between two looks at the list of events.
    let eventsPause: Duration
    /// The pause between two looks at the list of movements.
    let movementsPause: Duration

    /// Reads the settings.
    ///
    /// Keys: `STRIPE_KEY_FILE`, `STRIPE_WEBHOOK_SECRETS_FILE`, `STRIPE_ACCOUNTS`,
    /// `STRIPE_ACCOUNTS_DIRECTORY`, `STRIPE_APPS`, `STRIPE_RETURN_URL`, `STRIPE_RETURN_URLS`,
    /// `STRIPE_API_URL`, `STRIPE_TIMEOUT_MS`, `STRIPE_CALLS_PER_SECOND`,
    /// `STRIPE_ENDPOINT_CALLS_PER_SECOND`, `STRIPE_EVENTS_MS` and `STRIPE_MOVEMENTS_MS`.
    ///
    /// - Parameters:
    ///   - reader: The reader.
    ///   - environment: The environment of the store, which the key has to fit.
    ///   - isUsed: Whether Stripe charges; if not, nothing is required.
    ///   - lease: The lease of an attempt.
    init(
        _ reader: inout SettingsReader,
        in environment: StoreEnvironment,
        isUsed: Bool,
        lease: Duration
    ) {
        first = Self.firstAccount(&reader)
        others = Self.otherAccounts(&reader)
        apps = Self.apps(&reader, among: others)
        returnURLs = Self.returnURLs(&reader)
        let address = reader.string(
            "STRIPE_API_URL",
            default: "https://api.stripe.com",
            "Where Stripe is; tests name their stand-in."
        )
        let timeout = reader.milliseconds(
            "STRIPE_TIMEOUT_MS",
            default: .seconds(30),
            in: .milliseconds(100)...(.seconds(120)),
            "How long a call to Stripe may take; PROCESSOR_LEASE_MS must be 2 s longer."
        )
        client = StripeClient.Settings(baseURL: address, timeout: timeout)
        callsPerSecond = reader.integer(
            "STRIPE_CALLS_PER_SECOND",
            // Stripe allows live accounts 100, and sandboxes 25.
            default: environment == .production ? 40 : 10,
            in: 10...10_000,
            "How many calls a second this process makes to an account; all instances share its limit."
        )
        endpointCallsPerSecond = reader.integer(
            "STRIPE_ENDPOINT_CALLS_PER_SECOND",
            default: 10,
            in: 5...10_000,
            "How many of them go to one endpoint, of which Stripe takes 25 from all instances."
        )
        eventsPause = reader.milliseconds(
            "STRIPE_EVENTS_MS",
            default: .seconds(300),
            in: .milliseconds(100)...(.seconds(86_400)),
            "How often the list of events is read, for webhooks that were missed."
        )
        movementsPause = reader.milliseconds(
            "STRIPE_MOVEMENTS_MS",
            default: .seconds(600),
            in: .milliseconds(100)...(.seconds(86_400)),
            "How often the list of charges, fees and payouts is read, for 'counterfoil reconcile'."
        )
        guard isUsed else {
            if !others.isEmpty { reader.refuse("STRIPE_ACCOUNTS", "needs PROCESSOR=stripe") }
            return
        }
        check(&reader, in: environment, address: address, timeout: timeout, lease: lease)
    }

    private func check(
        _ reader: inout SettingsReader,
        in environment: StoreEnvironment,
        address: String,
        timeout: Duration,
        lease: Duration
    ) {
        let isAddress = URL(string: address).map { ["http", "https"].contains($0.scheme) } ?? false
        if !isAddress { reader.refuse("STRIPE_API_URL", "is not an address") }
        if environment == .production, !address.hasPrefix("https://") {
            reader.refuse("STRIPE_API_URL", "must begin with https:// in production")
        }
        if URL(string: returnURLs.first)?.scheme == nil {
            reader.refuse("STRIPE_RETURN_URL", "must be an address if PROCESSOR is stripe")
        }
        // A call may wait for its turn first.
        if lease <= timeout + StripeGate.patience {
            reader.refuse("PROCESSOR_LEASE_MS", "must be 2 s longer than STRIPE_TIMEOUT_MS")
        }
        // In documentation no file is there.
        guard !reader.isDescribing else { return }
        checkAccounts(&reader, in: environment)
    }

    /// The settings of all accounts, the first one in front.
    var accounts: [StripeAccountSettings] { [first] + others }
}
