/// An account's balances of consumable units.
public struct CreditsResponse: Codable, Hashable, Sendable {
    /// The balance of each unit; below zero after a refund of what was spent.
    public var balances: [String: Int64]
    /// Makes an answer.
    public init(balances: [String: Int64]) { self.balances = balances }
}
