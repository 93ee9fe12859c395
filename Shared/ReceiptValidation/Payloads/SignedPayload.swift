public import Foundation

/// A payload of a JWS that the store signs.
///
/// It is decoded from JSON with dates in milliseconds since 1970. Unknown fields are skipped, and
/// values of lists that may grow are stored as strings. A payload of a newer store can therefore be
/// decoded.
public protocol SignedPayload: Decodable, Sendable {
    /// The claims to check during verification.
    var claims: SignedClaims { get }
}

/// The claims of signed data.
public struct SignedClaims: Hashable, Sendable {
    /// The date of the signature.
    ///
    /// The certificates must be valid at this date.
    public var signedAt: Date
    /// The environment of the signed data.
    public var environment: String
    /// The app of the signed data; `nil` if this type of data has none.
    public var bundleID: String?
    /// The app's identifier in the App Store, if the data has one.
    public var appAppleID: Int64?

    /// Makes claims.
    public init(
        signedAt: Date,
        environment: String,
        bundleID: String?,
        appAppleID: Int64? = nil
    ) {
        self.signedAt = signedAt
        self.environment = environment
        self.bundleID = bundleID
        self.appAppleID = appAppleID
    }
}
