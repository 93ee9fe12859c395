/// A response with the products that an account owns.
public struct EntitlementsResponse: Codable, Hashable, Sendable {
    /// The products, ordered by the transaction that granted them.
    public var entitlements: [Entitlement]
    /// Makes a response.
    public init(entitlements: [Entitlement]) { self.entitlements = entitlements }
}
