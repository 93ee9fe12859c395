public import Foundation

/// The download of an app: Apple's `JWSAppTransactionDecodedPayload`.
public struct JWSAppTransaction: SignedPayload, Hashable {
    /// The environment: `Sandbox` or `Production`.
    public var receiptType: String
    /// The app.
    public var bundleId: String
    /// When it was signed.
    public var receiptCreationDate: Date
    /// The app's number.
    public var appAppleId: Int64?
    /// The app's version.
    public var applicationVersion: String?
    /// The number of the app's version.
    public var versionExternalIdentifier: Int64?
    /// When the app was first bought.
    public var originalPurchaseDate: Date?
    /// The version that was first bought.
    public var originalApplicationVersion: String?
    /// SHA-384 over the nonce and the device's id, in base64.
    public var deviceVerification: String?
    /// The nonce.
    public var deviceVerificationNonce: UUID?
    /// When the app was ordered before it was there.
    public var preorderDate: Date?
    /// The number of the download.
    public var appTransactionId: String?
    /// Where the app was first bought, `iOS` for example.
    public var originalPlatform: String?

    /// What it says of itself.
    public var claims: SignedClaims {
        SignedClaims(
            signedAt: receiptCreationDate,
            environment: receiptType,
            bundleID: bundleId,
            appAppleID: appAppleId
        )
    }
}
