public import EventTypes

/// A request to restore what the account owns (spec rules 62 to 72).
public struct RestoreRequest: Codable, Hashable, Sendable {
    /// Only purchases made under this name; by default all.
    public var applicationUsername: String?
    /// Only purchases of these products; by default of all.
    public var productIDs: [ProductID]?
    /// Makes a request.
    public init(applicationUsername: String? = nil, productIDs: [ProductID]? = nil) {
        self.applicationUsername = applicationUsername
        self.productIDs = productIDs
    }
}
