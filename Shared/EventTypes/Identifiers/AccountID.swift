/// A buyer's account, with the identifier of the app's own account system.
///
/// It is unique within the store.
public struct AccountID: Identifier {
    /// 1 to 128 visible ASCII characters.
    public static let form = "an account id of 1 to 128 visible ASCII characters"
    /// The identifier's characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Whether the string is 1 to 128 visible ASCII characters.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        isVisibleASCII(rawValue, lengthMax: 128)
    }
}
