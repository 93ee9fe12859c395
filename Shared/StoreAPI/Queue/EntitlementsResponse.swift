/// What an account owns.
public struct EntitlementsResponse: Codable, Hashable, Sendable {
    /// The products, by the transaction that gave each.
    public var entitlements: [Entitlement]
    /// Makes an answer.
    public init(entitlements: [Entitlement]) { self.entitlements = entitlements }
}
