import EventTypes
import StoreAPI

/// The rules for which of the periods counts that a family has shared of one subscription.
///
/// Pure. Each share is an entitlement of its own, under the original transaction of all of them.
enum SharedEntitlementRules {
    private struct Chain: Hashable {
        let originalID: TransactionID
        let productID: ProductID
    }

    /// Returns entitlements with one of each subscription and product: the newest that stands, or else
    /// the newest of all.
    ///
    /// - Parameter owned: The entitlements of an account, the older shares of each subscription first.
    /// - Returns: The entitlements that count, in the same order.
    static func counting(_ owned: [OwnedEntitlement]) -> [OwnedEntitlement] {
        var indexes: [Chain: Int] = [:]
        var counting: [OwnedEntitlement] = []
        for one in owned {
            let chain = Chain(
                originalID: one.entitlement.originalTransactionID,
                productID: one.entitlement.productID
            )
            guard let index = indexes[chain] else {
                indexes[chain] = counting.count
                counting.append(one)
                continue
            }
            let isTaken = one.entitlement.revokedAt != nil
            if !isTaken || counting[index].entitlement.revokedAt != nil { counting[index] = one }
        }
        return counting
    }
}
