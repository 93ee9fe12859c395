/// Which store, which app and which environment are believed.
public struct ReceiptTrust: Sendable {
    /// Where a store takes money, and where it does not.
    ///
    /// There are no other cases on purpose: data labelled `Xcode` or `LocalTesting` is signed by
    /// nobody, and is refused here like any unknown word.
    public enum Environment: String, CaseIterable, Sendable {
        /// For development and tests.
        case sandbox = "Sandbox"
        /// Where money is taken.
        case production = "Production"
    }

    /// The root certificates, in DER, as they were pinned.
    ///
    /// Each chain has to end in one of these, byte for byte.
    public let roots: [[UInt8]]
    /// The app that signed data has to be for; `nil` for the store's own server, which knows many.
    public let bundleID: String?
    /// The environment that signed data has to be of.
    public let environment: Environment
    /// The app's number, held against data that names one; `nil` asks for none.
    public let appAppleID: Int64?

    /// Says whom to believe.
    ///
    /// - Parameters:
    ///   - roots: The store's root certificates in DER; not of the network, but shipped with the app.
    ///   - bundleID: The app.
    ///   - environment: Sandbox or production.
    ///   - appAppleID: The app's number, if data in production has to name it.
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

    /// Believes data for any app of a store.
    ///
    /// For the store's own server. An app must say which it is, or it takes another's receipt.
    package init(roots: [[UInt8]], environment: Environment) {
        self.roots = roots
        bundleID = nil
        self.environment = environment
        appAppleID = nil
    }

    /// Holds what signed data says of itself against what is believed.
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
