public import EventTypes

/// An administrator's change to an account in an app.
///
/// Missing fields stay unchanged.
public struct AccountChangeRequest: Codable, Hashable, Sendable {
    /// The app.
    public var bundleID: BundleID
    /// Whether the account may pay (spec rules 1 and 2).
    public var canMakePayments: Bool?
    /// The account's storefront (spec rules 5 to 9).
    public var storefront: Storefront?

    /// Makes a request.
    public init(
        bundleID: BundleID,
        canMakePayments: Bool? = nil,
        storefront: Storefront? = nil
    ) {
        self.bundleID = bundleID
        self.canMakePayments = canMakePayments
        self.storefront = storefront
    }
}
