/// The identifier of a subscription group.
///
/// An account has at most one running subscription in a group.
public struct SubscriptionGroupID: Identifier {
    /// 1 to 64 letters, digits, hyphens, underscores and full stops.
    public static let form =
        "a subscription group id of 1 to 64 letters, digits, hyphens, underscores and full stops"
    /// The identifier's characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Whether the string is 1 to 64 letters, digits, hyphens, underscores and full stops.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        isName(rawValue, lengthMax: 64, punctuation: "-._")
    }
}
