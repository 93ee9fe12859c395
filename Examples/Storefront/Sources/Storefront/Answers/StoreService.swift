/// A service of the store, by the name that the page shows when it is away.
enum StoreService: String, CaseIterable, Sendable {
    case catalog, payments, receipts, fulfillment
}
