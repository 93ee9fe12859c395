/// The store, app and environment that an app trusts.
public struct ReceiptTrust: Sendable {
    /// The environment of a store: production or sandbox.
    ///
    /// There are deliberately no other cases. Data labelled `Xcode` or `LocalTesting` is not signed
    /// by a store, and is refused like data with an unknown environment.
    public enum Environment: String, CaseIterable, Sendable {
        /// The environment for development and tests.
        case sandbox = "Sandbox"
        /// The environment that charges real money.
        case production = "Production"
    }

    /// The pinned root certificates in DER.
    ///
    /// Each chain must end in one of them, byte for byte.
    public let roots: [[UInt8]]
    /// The app that signed data must be for; `nil` in the store's own server, which serves many
    /// apps.
    public let bundleID: String?
    /// The environment that signed data must be for.
    public let environment: Environment
    /// The app's identifier in the App Store, which is compared if the data has one; `nil` skips
    /// this check.
    public let appAppleID: Int64?

    /// Trusts one app in one environment of a store.
    ///
    /// - Parameters:
    ///   - roots: The store's root certificates in DER. Ship them with the app instead of
    ///     downloading them.
    ///   - bundleID: The app.
    ///   - environment: Sandbox or production.
    ///   - appAppleID: The app's identifier in the App Store, if production data must contain it.
    public init(
        roots: [[UInt8]],
        bundleID: String,
        environment: Environment,
        appAppleID: Int64? = nil
    ) {
        self.roots = roots
        self.bundleID = bundleID
        self.environment = environment
        self.appAppleID = appAppleID
    }

    /// Trusts data for any app of a store.
    ///
    /// Only the store's own server uses it. An app must name itself, or it would accept another
    /// app's receipt.
    package init(roots: [[UInt8]], environment: Environment) {
        self.roots = roots
        bundleID = nil
        self.environment = environment
        appAppleID = nil
    }

    /// Compares the claims of signed data with the trusted values.
    func check(_ claims: SignedClaims) throws(ReceiptRefusal) {
        try check(environment: claims.environment)
        if let bundleID = claims.bundleID {
            try check(bundleID: bundleID)
        }
        if environment == .production, let appAppleID, let claimed = claims.appAppleID,
            claimed != appAppleID
        {
            throw ReceiptRefusal(.appAppleID, "it is of app \(claimed), not of \(appAppleID)")
        }
    }

    func check(environment claimed: String) throws(ReceiptRefusal) {
        guard claimed == environment.rawValue else {
            let reason =
                Environment(rawValue: claimed) == nil
                ? "it says it is of an environment that nobody signs for"
                : "it is of \(claimed), not of \(environment.rawValue)"
            throw ReceiptRefusal(.environment, reason)
        }
    }

    func check(bundleID claimed: String) throws(ReceiptRefusal) {
        if let bundleID, claimed != bundleID {
            throw ReceiptRefusal(.bundleID, "it is of another app than \(bundleID)")
        }
    }
}
