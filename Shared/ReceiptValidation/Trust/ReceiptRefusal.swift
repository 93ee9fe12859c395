/// Why signed data was not believed: the rule that it breaks, and in words what was found.
///
/// It holds nothing of what was signed. A refusal is final: the same bytes are refused again.
public struct ReceiptRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The rules; a struct, so that it can grow.
    public struct Rule: Hashable, Sendable, CustomStringConvertible {
        /// The rule's name, which never changes.
        public let description: String

        /// It is larger than anything a store signs.
        public static let size = Rule(description: "size")
        /// It is not a JWS in compact form, or not a PKCS#7 in DER.
        public static let form = Rule(description: "form")
        /// The header cannot be read, or asks for what is not understood.
        public static let header = Rule(description: "header")
        /// It is not signed by ES256; `none` and HMACs are refused here.
        public static let algorithm = Rule(description: "algorithm")
        /// There are not exactly three certificates.
        public static let chainLength = Rule(description: "chain_length")
        /// A certificate cannot be read.
        public static let certificate = Rule(description: "certificate")
        /// The chain does not end in a pinned root.
        public static let root = Rule(description: "root")
        /// A certificate was not issued by the next one.
        public static let issuer = Rule(description: "issuer")
        /// A marker extension is missing, critical, or on the wrong certificate.
        public static let marker = Rule(description: "marker")
        /// A key identifier is missing, or names another key.
        public static let keyIdentifier = Rule(description: "key_identifier")
        /// A certificate that issues may not, or the leaf may.
        public static let authority = Rule(description: "authority")
        /// A certificate has a critical extension that is not understood.
        public static let criticalExtension = Rule(description: "critical_extension")
        /// The leaf's key is not on P-256.
        public static let key = Rule(description: "key")
        /// A certificate was not valid when the data was signed.
        public static let validity = Rule(description: "validity")
        /// The signature is not one of the leaf's key under this data.
        public static let signature = Rule(description: "signature")
        /// What was signed cannot be read.
        public static let payload = Rule(description: "payload")
        /// It was signed for another environment, or for none that is believed.
        public static let environment = Rule(description: "environment")
        /// It was signed for another app.
        public static let bundleID = Rule(description: "bundle_id")
        /// It was signed for an app with another number.
        public static let appAppleID = Rule(description: "app_apple_id")
        /// It was made for another device.
        public static let device = Rule(description: "device")
    }

    /// The rule that is broken.
    public let rule: Rule
    /// What was found, for a log.
    public let detail: String

    /// Makes a refusal.
    init(_ rule: Rule, _ detail: String) {
        self.rule = rule
        self.detail = detail
    }

    /// The rule and what was found.
    public var description: String { "\(rule): \(detail)" }
}
