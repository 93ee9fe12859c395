public import EventTypes

/// The merchant's server that sent a request.
public struct AuthenticatedServer: Hashable, Sendable {
    /// The id of the key that signed its token.
    public let keyID: String
    /// The app of the token.
    public let bundleID: BundleID

    /// Makes a server from its key and app.
    public init(keyID: String, bundleID: BundleID) {
        self.keyID = keyID
        self.bundleID = bundleID
    }
}
