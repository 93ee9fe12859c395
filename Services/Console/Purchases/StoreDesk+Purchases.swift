import EventTypes
import OperatorCore

/// The list of all purchases, in the books of `payments`.
extension StoreDesk {
    /// A page of purchases, the newest first, whether there are older ones, and the store's time.
    ///
    /// - Throws: `OperatorError` if the database cannot be read.
    func purchases(
        before id: TransactionID?
    ) async throws -> (purchases: [ListedPurchase], isCut: Bool, now: StoreTime) {
        let now = try await storeTime()
        let found = try await DatabaseReader.read(databases.address(of: .payments)) {
            try PurchaseListStore.page(before: id, limit: Self.purchasesMax, on: $0)
        }
        return (found.purchases, found.isCut, now)
    }
}
