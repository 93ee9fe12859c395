import EventTypes

/// A transaction that arrived from another service, with the bytes it came as.
struct ArrivedTransaction: Sendable {
    let transaction: Transaction
    let snapshot: TransactionSnapshot
    let traceparent: String?
}

/// Everything that a batch of arrivals changes, decided before anything is written.
///
/// Pure.
///
/// Each change of a transaction is a change of its queue with a revision of its own, also where a
/// batch holds several versions of one transaction; the row keeps the last.
struct QueuePlan: Sendable {
    /// One change of a queue.
    struct Change: Sendable {
        let after: QueuedTransaction
        let snapshot: TransactionSnapshot
        let traceparent: String?
        /// Its place among the changes of its queue in this plan, from 1.
        let ordinal: Int64
    }

    /// A change of a queue by its account.
    struct AccountChange: Sendable {
        let arrival: ArrivedAccount
        /// Its place among the changes of its queue in this plan.
        let ordinal: Int64
    }

    /// An account's ownership of a product, given or taken.
    struct Entitlement: Sendable {
        let queue: QueueKey
        let productID: ProductID
        let originalID: TransactionID
        let time: Timestamp
    }

    private(set) var changes: [Change] = []
    private(set) var accountChanges: [AccountChange] = []
    private(set) var counts: [QueueKey: Int64] = [:]
    private(set) var deliveries: [DeliveryRules.Delivery] = []
    private(set) var credits: [DeliveryRules.Credit] = []
    private(set) var entitlements: [Entitlement] = []
    /// Transactions whose pending deliveries become void and whose credits are reversed.
    private(set) var takenBack: [TransactionID] = []
    private(set) var revokedEntitlements: [Entitlement] = []

    /// Plans what arrivals change.
    ///
    /// - Parameters:
    ///   - arrivals: In the order they arrived.
    ///   - existing: What the queues know of the same transactions.
    ///   - accounts: The accounts that arrived with them.
    ///   - versions: The versions that the queues know of the same accounts.
    ///   - contents: What is hosted for the products of the arrivals; a transaction keeps what it
    ///     finds as it is granted.
    ///   - now: The time of the grants.
    /// - Throws: ``FulfillmentError`` of a credit that cannot be held.
    init(
        arrivals: [ArrivedTransaction],
        existing: [TransactionID: QueuedTransaction],
        accounts: [ArrivedAccount] = [],
        versions: [QueueKey: Int] = [:],
        contents: [ProductID: HostedContent] = [:],
        now: Timestamp
    ) throws(FulfillmentError) {
        var known = existing
        for arrival in arrivals {
            let transaction = arrival.transaction
            guard var change = QueueRules.apply(transaction, to: known[transaction.id]) else {
                continue
            }
            if change.isGranted, let content = contents[transaction.productID] {
                change.after.contents = HostedContent.json(of: [content])
            }
            known[transaction.id] = change.after
            let queue = change.after.queue
            counts[queue, default: 0] += 1
            changes.append(
                Change(
                    after: change.after,
                    snapshot: arrival.snapshot,
                    traceparent: arrival.traceparent,
                    ordinal: counts[queue, default: 0]
                )
            )
            deliveries += change.deliveries
            if change.isGranted {
                credits += try DeliveryRules.credits(of: transaction)
                if DeliveryRules.grantsEntitlement(transaction) {
                    entitlements.append(Self.entitlement(of: transaction, at: now))
                }
            }
            if change.isTakenBack {
                takenBack.append(transaction.id)
                // Giving back a copy takes nothing away: the purchase it copies stands.
                if transaction.id == transaction.originalID {
                    revokedEntitlements.append(
                        Self.entitlement(of: transaction, at: transaction.revokedAt ?? now)
                    )
                }
            }
        }
        change(accounts, versions)
    }

    /// Of several versions of an account the highest is one change, behind those of transactions:
    /// an account is what it is, not how it came to be.
    private mutating func change(_ accounts: [ArrivedAccount], _ versions: [QueueKey: Int]) {
        var newest = versions
        for arrival in accounts {
            newest[arrival.queue] = max(newest[arrival.queue] ?? 0, arrival.version)
        }
        for arrival in accounts where newest[arrival.queue] == arrival.version {
            guard arrival.version > versions[arrival.queue] ?? 0 else { continue }
            // The same version a second time.
            newest[arrival.queue] = nil
            counts[arrival.queue, default: 0] += 1
            accountChanges.append(
                AccountChange(arrival: arrival, ordinal: counts[arrival.queue, default: 0])
            )
        }
    }

    /// The last change of each transaction, which is what its row keeps.
    var rows: [Change] {
        var last: [TransactionID: Int] = [:]
        for (index, change) in changes.enumerated() { last[change.after.id] = index }
        return last.values.sorted().map { changes[$0] }
    }

    private static func entitlement(of transaction: Transaction, at time: Timestamp) -> Entitlement
    {
        Entitlement(
            queue: transaction.queue,
            productID: transaction.productID,
            originalID: transaction.originalID,
            time: time
        )
    }
}
