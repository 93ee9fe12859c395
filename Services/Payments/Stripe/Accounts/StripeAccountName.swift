/// The store's own name of one of the merchant's accounts at Stripe.
///
/// The tables say by it at which account a buyer, a card or a movement is. So a name that was used
/// once must not be given to another account.
struct StripeAccountName: RawRepresentable, Hashable, Comparable, Sendable,
    CustomStringConvertible
{
    /// The account of a store that has only one.
    static let `default` = Self(rawValue: "default")

    let rawValue: String

    var description: String { rawValue }

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
