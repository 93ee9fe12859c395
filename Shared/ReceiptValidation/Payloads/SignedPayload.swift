public import Foundation

/// What can be read from a JWS of the store.
///
/// Decoded from JSON with dates as milliseconds since 1970. Fields that are not known are passed
/// over, and words of lists that may grow are kept as texts, so that a newer store is understood.
public protocol SignedPayload: Decodable, Sendable {
    /// What it says of itself, to be held against what is believed.
    var claims: SignedClaims { get }
}

/// What signed data says of itself.
public struct SignedClaims: Hashable, Sendable {
    /// When it was signed: the certificates have to be valid at this moment.
    public var signedAt: Date
    /// The environment it was signed for.
    public var environment: String
    /// The app it was signed for; `nil` if data of this kind names none.
    public var bundleID: String?
    /// The app's number, if it names one.
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
