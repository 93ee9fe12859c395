public import EventTypes

/// A page of the products that an account owns, and all that it may use by name.
///
/// The first page has the newest purchases.
public struct EntitlementsResponse: Codable, Hashable, Sendable {
    /// The products of this page, ordered by the transaction that granted them.
    public var entitlements: [Entitlement]
    /// The entitlements that the account has now, each name once, in the order of the names.
    ///
    /// Every page has all of them.
    public var named: [NamedEntitlement]
    /// The position of the next page, which has older purchases; `nil` on the last page.
    public var next: TransactionID?
    /// Makes a response.
    public init(
        entitlements: [Entitlement],
        named: [NamedEntitlement] = [],
        next: TransactionID? = nil
    ) {
        self.entitlements = entitlements
        self.named = named
        self.next = next
    }
}
