import EventTypes
public import PaymentQueue
import StoreAPI
import Synchronization

extension StoreTestSession {
    /// The addresses of the store that `make run` starts on this machine.
    public static let localAddresses = StoreConfiguration.Addresses(
        catalog: "http://127.0.0.1:8081",
        payments: "http://127.0.0.1:8082",
        fulfillment: "http://127.0.0.1:8084",
        receipts: "http://127.0.0.1:8083"
    )

    /// Begins a session on a sandbox whose keys the test owns.
    ///
    /// - Parameters:
    ///   - keys: The keys of the sandbox.
    ///   - addresses: The addresses of the store.
    public convenience init(
        keys: StoreTestKeys,
        addresses: StoreConfiguration.Addresses = StoreTestSession.localAddresses
    ) {
        self.init(
            addresses: addresses,
            bundleID: keys.bundleID,
            receiptTrust: keys.receiptTrust,
            accountToken: { try keys.accountToken(for: $0) },
            administratorToken: { try keys.administratorToken() }
        )
    }

    /// The settings with which the app under test connects to the store, as the session's account.
    ///
    /// Take them again after ``clearTransactions()`` and ``apply(_:)``.
    public var configuration: StoreConfiguration {
        let (account, storefront, language) = state.withLock {
            ($0.account, $0.storefront, $0.language)
        }
        let connection = connection
        var configuration = StoreConfiguration(
            addresses: addresses,
            storefront: storefront.rawValue,
            language: language.rawValue,
            paymentMethod: { _ in "sandbox_success" },
            accountToken: { _ in try await connection.accountToken(account) }
        )
        configuration.receiptTrust = receiptTrust
        return configuration
    }

    /// Follows the settings of Xcode's StoreKit configuration file.
    ///
    /// - Parameter settings: The settings. Their ``StoreKitSettings/lines`` say what a sandbox can
    ///   follow.
    /// - Throws: ``StoreTestError``, or an error of the network.
    public func apply(_ settings: StoreKitSettings) async throws {
        if let storefront = settings.storefront { try await changeStorefront(storefront) }
        if let rate = settings.timeRate { try await setTimeRate(rate) }
        if let language = settings.language { state.withLock { $0.language = language } }
        try await set { $0 = settings.settings(in: $0.bundleID) }
    }

    /// The state of the account's subscription to a product.
    ///
    /// `payments` says it, and the app hears of it a moment later.
    public func renewalState(of product: String) async throws -> RenewalState {
        switch try await subscription(to: product).state {
        case .active: .subscribed
        case .inGracePeriod: .inGracePeriod
        case .inBillingRetryPeriod: .inBillingRetryPeriod
        case .revoked: .revoked
        case .expired, .unknown: .expired
        }
    }
}
