public import Foundation

/// A notification from the store to a server: Apple's `ResponseBodyV2DecodedPayload`.
///
/// It has one of ``data``, ``summary``, ``appData`` and ``externalPurchaseToken``. Verify the
/// signed payloads inside it separately.
public struct JWSNotification: SignedPayload, Hashable {
    /// The details of a notification about one transaction or subscription.
    public struct Details: Decodable, Hashable, Sendable {
        /// `Sandbox` or `Production`.
        public var environment: String
        /// The app.
        public var bundleId: String
        /// The app's identifier in the App Store.
        public var appAppleId: Int64?
        /// The app's version.
        public var bundleVersion: String?
        /// A ``JWSTransaction``.
        public var signedTransactionInfo: String?
        /// A ``JWSRenewalInfo``.
        public var signedRenewalInfo: String?
        /// A ``JWSAppTransaction``.
        public var signedAppTransactionInfo: String?
        /// The status of a subscription: 1 active, 2 expired, 3 billing retry, 4 grace period, 5
        /// revoked.
        public var status: Int?
        /// The buyer's reason for the refund request.
        public var consumptionRequestReason: String?
    }

    /// The details of a notification about a renewal date that was extended for all subscribers.
    public struct Summary: Decodable, Hashable, Sendable {
        /// `Sandbox` or `Production`.
        public var environment: String
        /// The app.
        public var bundleId: String
        /// The app's identifier in the App Store.
        public var appAppleId: Int64?
        /// The product.
        public var productId: String?
        /// The identifier of the extension request.
        public var requestIdentifier: String?
        /// The storefronts; all storefronts if `nil`.
        public var storefrontCountryCodes: [String]?
        /// The number of successful extensions.
        public var succeededCount: Int64?
        /// The number of failed extensions.
        public var failedCount: Int64?
    }

    /// The details of a notification about a purchase outside the store.
    public struct ExternalPurchaseToken: Decodable, Hashable, Sendable {
        /// The identifier of the token.
        ///
        /// It begins with `SANDBOX` in the sandbox.
        public var externalPurchaseId: String
        /// The creation date of the token, in milliseconds since 1970.
        public var tokenCreationDate: Date?
        /// The app.
        public var bundleId: String
        /// The app's identifier in the App Store.
        public var appAppleId: Int64?
    }

    /// The type of the notification.
    public var notificationType: String
    /// The subtype of the notification.
    public var subtype: String?
    /// The UUID of the notification.
    ///
    /// It is the same in every attempt.
    public var notificationUUID: String
    /// The version of the format: `2.0`.
    public var version: String?
    /// The date of the signature.
    public var signedDate: Date
    /// The details of a transaction.
    public var data: Details?
    /// The details of an extension for all subscribers.
    public var summary: Summary?
    /// The details of the download of the app.
    public var appData: Details?
    /// The details of a purchase outside the store.
    public var externalPurchaseToken: ExternalPurchaseToken?

    /// The claims to check during verification.
    ///
    /// A notification without details claims no environment and is refused.
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
