/// The name of an administrator: that of their key, which their tokens name.
public struct AdministratorName: Identifier {
    /// 1 to 64 letters, digits, hyphens, underscores, full stops and at signs.
    public static let form =
        "an administrator's name of 1 to 64 letters, digits and the characters - _ . @"
    /// The name's characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Whether the string has the form of a name.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        isName(rawValue, lengthMax: 64, punctuation: "-_.@")
    }
}
