public import EventTypes

/// A request to restore the account's purchases (spec rules 62 to 72).
public struct RestoreRequest: Codable, Hashable, Sendable {
    /// Restores only purchases made under this name; `nil` restores all.
    public var applicationUsername: String?
    /// Restores only purchases of these products; `nil` restores all.
    public var productIDs: [ProductID]?
    /// Makes a request.
    public init(applicationUsername: String? = nil, productIDs: [ProductID]? = nil) {
        self.applicationUsername = applicationUsername
        self.productIDs = productIDs
    }
}
