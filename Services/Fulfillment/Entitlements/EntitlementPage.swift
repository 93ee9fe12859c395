import EventTypes

/// A page of what an account owns or owned.
struct EntitlementPage: Sendable {
    /// The entitlements, ordered by the transactions that granted them.
    let owned: [OwnedEntitlement]
    /// The end of the page: all older purchases come before this one. `nil` if there are none.
    let next: TransactionID?
}
