/// A response with an account's balances of consumable units.
public struct CreditsResponse: Codable, Hashable, Sendable {
    /// The balance of each unit.
    ///
    /// It can be negative after a refund of units that were already spent.
    public var balances: [String: Int64]
    /// Makes a response.
    public init(balances: [String: Int64]) { self.balances = balances }
}
