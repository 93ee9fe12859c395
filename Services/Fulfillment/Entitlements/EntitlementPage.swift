import EventTypes

/// A page of what an account owns or owned.
struct EntitlementPage: Sendable {
    /// The entitlements, ordered by the transactions that granted them.
    let owned: [OwnedEntitlement]
    /// The oldest purchase of the page, after which the next page begins; `nil` on the last page.
    let next: TransactionID?
}
