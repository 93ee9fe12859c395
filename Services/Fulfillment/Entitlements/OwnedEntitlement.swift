import EventTypes
import StoreAPI

/// An entitlement of an account, with what the catalog and the subscription say of it.
struct OwnedEntitlement: Hashable, Sendable {
    let entitlement: Entitlement
    /// The transaction that gives it: that of the period of a subscription, or else the original.
    let transactionID: TransactionID
    /// The names that its product gives by the newest version of the catalog.
    let names: [EntitlementName]
}
