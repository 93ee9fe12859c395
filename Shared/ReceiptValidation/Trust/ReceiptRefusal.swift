/// The reason why signed data was refused: the violated rule and a description.
///
/// It contains nothing of the signed data. A refusal is final: the same bytes are always refused
/// again.
public struct ReceiptRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The rules.
    ///
    /// This is a struct so that rules can be added.
    public struct Rule: Hashable, Sendable, CustomStringConvertible {
        /// The name of the rule.
        ///
        /// It never changes.
        public let description: String

        /// The data is larger than anything that a store signs.
        public static let size = Rule(description: "size")
        /// The data is not a JWS in compact form or a PKCS#7 in DER.
        public static let form = Rule(description: "form")
        /// The header cannot be read or has an unsupported requirement.
        public static let header = Rule(description: "header")
        /// The algorithm is not ES256.
        ///
        /// This rule also refuses `none` and HMACs.
        public static let algorithm = Rule(description: "algorithm")
        /// There are not exactly three certificates.
        public static let chainLength = Rule(description: "chain_length")
        /// A certificate cannot be read.
        public static let certificate = Rule(description: "certificate")
        /// The chain does not end in a pinned root.
        public static let root = Rule(description: "root")
        /// A certificate was not issued by the next certificate in the chain.
        public static let issuer = Rule(description: "issuer")
        /// A marker extension is missing, critical, or on the wrong certificate.
        public static let marker = Rule(description: "marker")
        /// A key identifier is missing or does not match.
        public static let keyIdentifier = Rule(description: "key_identifier")
        /// An issuing certificate is not an authority, or the leaf is one.
        public static let authority = Rule(description: "authority")
        /// A certificate has an unknown critical extension.
        public static let criticalExtension = Rule(description: "critical_extension")
        /// The leaf's key is not on P-256.
        public static let key = Rule(description: "key")
        /// A certificate was not valid when the data was signed.
        public static let validity = Rule(description: "validity")
        /// The leaf's key did not create the signature of this data.
        public static let signature = Rule(description: "signature")
        /// The signed payload cannot be read.
        public static let payload = Rule(description: "payload")
        /// The data is for another environment, or for an unknown one.
        public static let environment = Rule(description: "environment")
        /// The data is for another app.
        public static let bundleID = Rule(description: "bundle_id")
        /// The data is for an app with another App Store identifier.
        public static let appAppleID = Rule(description: "app_apple_id")
        /// The receipt is for another device.
        public static let device = Rule(description: "device")
    }

    /// The violated rule.
    public let rule: Rule
    /// A description for logs.
    public let detail: String

    /// Makes a refusal.
    init(_ rule: Rule, _ detail: String) {
        self.rule = rule
        self.detail = detail
    }

    /// The rule and its description.
    public var description: String { "\(rule): \(detail)" }
}
