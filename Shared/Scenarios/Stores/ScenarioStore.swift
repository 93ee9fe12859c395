public import EventTypes
public import PaymentQueue

/// A store that scenarios are played on, and the parts of it that are not public interfaces.
public struct ScenarioStore: Sendable {
    /// The addresses of the services.
    public var addresses: StoreConfiguration.Addresses
    /// The app in which the scenarios' accounts buy.
    public var bundleID: BundleID
    /// Signs a token for an account in this app.
    public var accountToken: @Sendable (AccountID) async throws -> String
    /// Signs a token for an administrator.
    public var administratorToken: @Sendable () async throws -> String
    /// Whether the scenarios may set the store's clock.
    public var hasClock = false
    /// Reads the ledger; `nil` if it cannot be read.
    ///
    /// It returns the sum of a transaction's entries in minor units, by the names of the ledger's
    /// accounts.
    public var ledger: (@Sendable (TransactionID) async throws -> [String: Int64])?
    /// The merchant's server; `nil` if the store can reach none.
    public var merchant: (any ScenarioMerchant)?
    /// The faults that can be caused; `nil` for none.
    public var faults: (any ScenarioFaults)?

    /// Signs a promotional offer of a product with a key of the merchant's server; `nil` if there is no
    /// such key.
    public var signOffer:
        (@Sendable (_ offer: String, _ product: ProductID) async throws -> SKPaymentDiscount)?

    /// Makes a store that has only its public interfaces.
    ///
    /// - Parameters:
    ///   - addresses: The addresses of the services.
    ///   - bundleID: The app in which the scenarios' accounts buy.
    ///   - accountToken: Signs a token for an account in this app.
    ///   - administratorToken: Signs a token for an administrator.
    public init(
        addresses: StoreConfiguration.Addresses,
        bundleID: BundleID,
        accountToken: @escaping @Sendable (AccountID) async throws -> String,
        administratorToken: @escaping @Sendable () async throws -> String
    ) {
        self.addresses = addresses
        self.bundleID = bundleID
        self.accountToken = accountToken
        self.administratorToken = administratorToken
    }

    /// The needs that the store meets.
    public var meets: Set<ScenarioNeed> {
        var needs: Set<ScenarioNeed> = hasClock ? [.clock] : []
        if ledger != nil { needs.insert(.ledger) }
        if merchant != nil { needs.insert(.merchant) }
        if faults != nil { needs.insert(.faults) }
        if signOffer != nil { needs.insert(.serverKey) }
        return needs
    }
}
