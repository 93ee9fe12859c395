/// A buyer, as the app's own account system names them.
///
/// Unique within the store.
public struct AccountID: Identifier {
    /// 1 to 128 visible ASCII characters.
    public static let form = "an account id of 1 to 128 visible ASCII characters"
    /// The identifier's characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Tells whether the string is 1 to 128 visible ASCII characters.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        isVisibleASCII(rawValue, lengthMax: 128)
    }
}
