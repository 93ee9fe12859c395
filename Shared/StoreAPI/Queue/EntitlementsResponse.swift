/// A response with the products that an account owns, and with what it may use by name.
public struct EntitlementsResponse: Codable, Hashable, Sendable {
    /// The products, ordered by the transaction that granted them.
    public var entitlements: [Entitlement]
    /// The entitlements that the account has now, each name once, in the order of the names.
    public var named: [NamedEntitlement]
    /// Makes a response.
    public init(entitlements: [Entitlement], named: [NamedEntitlement] = []) {
        self.entitlements = entitlements
        self.named = named
    }
}
