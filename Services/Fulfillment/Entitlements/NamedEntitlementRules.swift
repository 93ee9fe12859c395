import EventTypes
import StoreAPI

/// The rules for what an account may use, by the names of entitlements.
///
/// Pure. Several products may give one name. The entitlement that lasts longest counts.
enum NamedEntitlementRules {
    /// Returns the entitlements that hold at a time, each name once, in the order of the names.
    static func inForce(
        _ owned: [OwnedEntitlement],
        at time: StoreTime
    ) -> [NamedEntitlement] {
        var longest: [EntitlementName: NamedEntitlement] = [:]
        for one in owned where holds(one.entitlement, at: time) {
            for name in one.names {
                let named = NamedEntitlement(
                    name: name,
                    productID: one.entitlement.productID,
                    originalTransactionID: one.entitlement.originalTransactionID,
                    transactionID: one.transactionID,
                    endsAt: one.entitlement.endsAt
                )
                if let known = longest[name], !lasts(named, longerThan: known) { continue }
                longest[name] = named
            }
        }
        return longest.values.sorted { $0.name < $1.name }
    }

    /// Whether an entitlement is neither revoked nor over.
    private static func holds(_ entitlement: Entitlement, at time: StoreTime) -> Bool {
        guard entitlement.revokedAt == nil else { return false }
        return entitlement.endsAt.map { time < $0 } ?? true
    }

    /// Whether an entitlement ends later than another one; one without an end lasts longest.
    private static func lasts(
        _ one: NamedEntitlement,
        longerThan other: NamedEntitlement
    ) -> Bool {
        guard let otherEnd = other.endsAt else { return false }
        return one.endsAt.map { $0 > otherEnd } ?? true
    }
}
