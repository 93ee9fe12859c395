import EventTypes

/// A purchase intent, within the account whose it has to be.
struct IntentKey: Hashable, Sendable {
    let account: AccountKey
    let id: PurchaseIntentID
}
