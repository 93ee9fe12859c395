public import Foundation

/// The download of an app: Apple's `JWSAppTransactionDecodedPayload`.
public struct JWSAppTransaction: SignedPayload, Hashable {
    /// The environment: `Sandbox` or `Production`.
    public var receiptType: String
    /// The app.
    public var bundleId: String
    /// The date of the signature.
    public var receiptCreationDate: Date
    /// The app's identifier in the App Store.
    public var appAppleId: Int64?
    /// The app's version.
    public var applicationVersion: String?
    /// The external identifier of the app's version.
    public var versionExternalIdentifier: Int64?
    /// The date of the app's first purchase.
    public var originalPurchaseDate: Date?
    /// The app's version at its first purchase.
    public var originalApplicationVersion: String?
    /// SHA-384 of the nonce and the device identifier, in base64.
    public var deviceVerification: String?
    /// The nonce of the device verification.
    public var deviceVerificationNonce: UUID?
    /// The date on which the app was preordered.
    public var preorderDate: Date?
    /// The identifier of the download.
    public var appTransactionId: String?
    /// The platform of the app's first purchase, such as `iOS`.
    public var originalPlatform: String?

    /// The claims to check during verification.
    public var claims: SignedClaims {
        SignedClaims(
            signedAt: receiptCreationDate,
            environment: receiptType,
            bundleID: bundleId,
            appAppleID: appAppleId
        )
    }
}
