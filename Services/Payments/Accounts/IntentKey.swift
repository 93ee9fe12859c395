import EventTypes

/// The key of a purchase intent: its id and the account that it has to belong to.
struct IntentKey: Hashable, Sendable {
    let account: AccountKey
    let id: PurchaseIntentID
}
