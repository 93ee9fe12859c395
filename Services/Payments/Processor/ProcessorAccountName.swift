/// The store's own name of one of the merchant's accounts at the processor.
///
/// The tables say by it at which account a buyer, a card or a movement is. So a name that was used
/// once must not be given to another account.
struct ProcessorAccountName: RawRepresentable, Hashable, Comparable, Sendable,
    CustomStringConvertible
{
    /// The account of a store that has only one.
    static let `default` = Self(rawValue: "default")

    /// The form of a name, for messages.
    static let form =
        "a name other than 'default': a small letter, then up to 30 small letters, digits and hyphens"

    let rawValue: String

    /// Whether a text is a name that settings may give to an account.
    static func isWellFormed(_ text: String) -> Bool {
        text != Self.default.rawValue && text.wholeMatch(of: /[a-z][a-z0-9-]{0,30}/) != nil
    }

    var description: String { rawValue }

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
