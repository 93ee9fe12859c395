import EventTypes

/// As much of an account as every payment has to know.
struct AccountStanding: Hashable, Sendable {
    /// Whether it may pay.
    var canMakePayments = true
    /// Where it buys; `nil`: nobody has set one, the client's word is taken.
    var storefront: Storefront?
}
