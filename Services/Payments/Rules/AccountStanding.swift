import EventTypes

/// The part of an account that every payment is checked against.
struct AccountStanding: Hashable, Sendable {
    /// Whether the account may pay.
    var canMakePayments = true
    /// The account's storefront; if `nil`, none is set, and the one that the client names is
    /// accepted.
    var storefront: Storefront?
}
