import EventTypes

/// The periods that upgrades have ended, whose transactions are signed again (rule S101 of
/// docs/subscriptions.md).
///
/// Pure.
struct UpgradedPeriods: Sendable {
    private var ownersByID: [TransactionID: OwnerKey] = [:]

    /// Reads changes of subscriptions.
    init(_ changes: [SubscriptionChanged]) {
        for change in changes {
            for period in change.changedPeriods ?? [] where period.isUpgraded {
                ownersByID[period.transactionID] = OwnerKey(
                    account: change.subscription.accountID,
                    bundle: change.subscription.bundleID
                )
            }
        }
    }

    /// Whether there is none.
    var isEmpty: Bool { ownersByID.isEmpty }

    /// The transactions of the periods, in the order of their numbers.
    var ids: [TransactionID] { ownersByID.keys.sorted() }

    /// The accounts of the transactions.
    var owners: Set<OwnerKey> { Set(ownersByID.values) }

    /// The account of one of the transactions.
    func owner(of id: TransactionID) -> OwnerKey {
        guard let owner = ownersByID[id] else {
            preconditionFailure("The transaction is of an upgraded period.")
        }
        return owner
    }
}
