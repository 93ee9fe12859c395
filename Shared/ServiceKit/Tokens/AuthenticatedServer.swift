public import EventTypes

/// The merchant's server that a request comes from.
public struct AuthenticatedServer: Hashable, Sendable {
    /// The key it proved itself with.
    public let keyID: String
    /// The app that it speaks for.
    public let bundleID: BundleID

    /// Names a server.
    public init(keyID: String, bundleID: BundleID) {
        self.keyID = keyID
        self.bundleID = bundleID
    }
}
