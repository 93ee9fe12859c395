public import EventTypes

/// A response with the settings of an account in an app.
public struct AccountResponse: Codable, Hashable, Sendable {
    /// The account.
    ///
    /// Its version is 0 if it was never changed.
    public var account: Account
    /// Makes a response.
    public init(account: Account) { self.account = account }
}
