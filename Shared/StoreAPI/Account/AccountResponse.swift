public import EventTypes

/// An answer that holds what the store knows of an account in an app.
public struct AccountResponse: Codable, Hashable, Sendable {
    /// The account; at version 0 if nothing was ever said of it.
    public var account: Account
    /// Makes an answer.
    public init(account: Account) { self.account = account }
}
