/// An app's bundle identifier, such as `com.example.app`.
public struct BundleID: Identifier {
    /// 1 to 155 letters, digits, hyphens and full stops.
    public static let form = "a bundle id of 1 to 155 letters, digits, hyphens and full stops"
    /// The identifier's characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Whether the string is 1 to 155 letters, digits, hyphens and full stops.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        isName(rawValue, lengthMax: 155, punctuation: "-.")
    }
}
