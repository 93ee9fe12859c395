public import Foundation

/// A notification of the store to a server: Apple's `ResponseBodyV2DecodedPayload`.
///
/// One of ``data``, ``summary``, ``appData`` and ``externalPurchaseToken`` is there. The signed
/// payloads inside are to be verified on their own.
public struct JWSNotification: SignedPayload, Hashable {
    /// About one transaction or subscription.
    public struct Details: Decodable, Hashable, Sendable {
        /// `Sandbox` or `Production`.
        public var environment: String
        /// The app.
        public var bundleId: String
        /// The app's number.
        public var appAppleId: Int64?
        /// The app's version.
        public var bundleVersion: String?
        /// A ``JWSTransaction``.
        public var signedTransactionInfo: String?
        /// A ``JWSRenewalInfo``.
        public var signedRenewalInfo: String?
        /// A ``JWSAppTransaction``.
        public var signedAppTransactionInfo: String?
        /// A subscription's state: 1 active, 2 expired, 3 retry, 4 grace, 5 revoked.
        public var status: Int?
        /// Why the buyer asks for a refund.
        public var consumptionRequestReason: String?
    }

    /// About a renewal date that was extended for all subscribers.
    public struct Summary: Decodable, Hashable, Sendable {
        /// `Sandbox` or `Production`.
        public var environment: String
        /// The app.
        public var bundleId: String
        /// The app's number.
        public var appAppleId: Int64?
        /// The product.
        public var productId: String?
        /// The request that this answers.
        public var requestIdentifier: String?
        /// The regions; all if `nil`.
        public var storefrontCountryCodes: [String]?
        /// How many were extended.
        public var succeededCount: Int64?
        /// How many were not.
        public var failedCount: Int64?
    }

    /// About a purchase outside the store.
    public struct ExternalPurchaseToken: Decodable, Hashable, Sendable {
        /// The token's id; it begins with `SANDBOX` in the sandbox.
        public var externalPurchaseId: String
        /// When it was made, in milliseconds since 1970.
        public var tokenCreationDate: Date?
        /// The app.
        public var bundleId: String
        /// The app's number.
        public var appAppleId: Int64?
    }

    /// What happened.
    public var notificationType: String
    /// What happened, in more detail.
    public var subtype: String?
    /// The same in each repetition.
    public var notificationUUID: String
    /// `2.0`.
    public var version: String?
    /// When it was signed.
    public var signedDate: Date
    /// About a transaction.
    public var data: Details?
    /// About an extension for all subscribers.
    public var summary: Summary?
    /// About the download of the app.
    public var appData: Details?
    /// About a purchase outside the store.
    public var externalPurchaseToken: ExternalPurchaseToken?

    /// What it says of itself.
    ///
    /// One that is about nothing says that it is of no environment, and is refused.
    public var claims: SignedClaims {
        if let details = data ?? appData {
            claims(details.environment, details.bundleId, details.appAppleId)
        } else if let summary {
            claims(summary.environment, summary.bundleId, summary.appAppleId)
        } else if let token = externalPurchaseToken {
            claims(
                token.externalPurchaseId.hasPrefix("SANDBOX") ? "Sandbox" : "Production",
                token.bundleId,
                token.appAppleId
            )
        } else {
            claims("", "", nil)
        }
    }

    private func claims(
        _ environment: String,
        _ bundleID: String,
        _ appAppleID: Int64?
    ) -> SignedClaims {
        SignedClaims(
            signedAt: signedDate,
            environment: environment,
            bundleID: bundleID,
            appAppleID: appAppleID
        )
    }
}
