/// The identifier of a family.
public struct FamilyID: Identifier {
    /// A UUID in lower case.
    public static let form = "a family id, which is a UUID in lower case"
    /// The UUID's 36 characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Whether the string is a UUID in lower case.
    public static func isWellFormed(_ rawValue: String) -> Bool { isUUID(rawValue) }
}
