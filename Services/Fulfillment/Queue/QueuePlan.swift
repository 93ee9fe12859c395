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
        let time: Timestamp
        /// Its place among the changes of its queue in this plan, from 1.
        let ordinal: Int64
    }

    /// A change of a queue by its account.
    struct AccountChange: Sendable {
        let arrival: ArrivedAccount
        let time: Timestamp
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

    /// Something that is given or taken at a time.
    struct Timed<Value: Sendable>: Sendable {
        let value: Value
        let time: Timestamp
    }

    private(set) var changes: [Change] = []
    private(set) var accountChanges: [AccountChange] = []
    private(set) var counts: [QueueKey: Int64] = [:]
    private(set) var deliveries: [Timed<DeliveryRules.Delivery>] = []
    private(set) var credits: [Timed<DeliveryRules.Credit>] = []
    private(set) var entitlements: [Entitlement] = []
    /// Transactions whose pending deliveries become void and whose credits are reversed.
    private(set) var takenBack: [Timed<TransactionID>] = []
    private(set) var revokedEntitlements: [Entitlement] = []
    /// What the queues know of transactions, with the changes so far.
    private(set) var known: [TransactionID: QueuedTransaction]

    /// Begins a plan.
    ///
    /// - Parameter existing: What the queues know of the transactions that it will be about.
    init(existing: [TransactionID: QueuedTransaction]) {
        known = existing
    }

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
        self.init(existing: existing)
        for arrival in arrivals {
            let content = contents[arrival.transaction.productID]
            try arrive(arrival, contents: content.map { HostedContent.json(of: [$0]) }, at: now)
        }
        change(accounts, versions, at: now)
    }

    /// Plans what one arrival changes.
    ///
    /// - Parameters:
    ///   - arrival: The transaction.
    ///   - contents: The JSON of what it keeps if it is granted by this.
    ///   - time: When it arrives.
    /// - Returns: The change; `nil` if the queue knows this version or a later one.
    /// - Throws: ``FulfillmentError`` of a credit that cannot be held.
    @discardableResult
    mutating func arrive(
        _ arrival: ArrivedTransaction,
        contents: [UInt8]?,
        at time: Timestamp
    ) throws(FulfillmentError) -> Change? {
        let transaction = arrival.transaction
        guard var change = QueueRules.apply(transaction, to: known[transaction.id]) else {
            return nil
        }
        // Written once: what changes it later has traces of its own.
        if known[transaction.id] == nil { change.after.traceparent = arrival.traceparent }
        if change.isGranted, let contents { change.after.contents = contents }
        deliveries += change.deliveries.map { Timed(value: $0, time: time) }
        if change.isGranted {
            credits += try DeliveryRules.credits(of: transaction).map {
                Timed(value: $0, time: time)
            }
            if DeliveryRules.grantsEntitlement(transaction) {
                entitlements.append(Self.entitlement(of: transaction, at: time))
            }
        }
        if change.isTakenBack {
            takenBack.append(Timed(value: transaction.id, time: time))
            // Giving back a copy takes nothing away: the purchase it copies stands.
            if transaction.id == transaction.originalID {
                revokedEntitlements.append(
                    Self.entitlement(of: transaction, at: transaction.revokedAt ?? time)
                )
            }
        }
        return note(
            change.after,
            snapshot: arrival.snapshot,
            traceparent: arrival.traceparent,
            at: time
        )
    }

    /// Adds a change of a transaction that is decided already.
    @discardableResult
    mutating func note(
        _ after: QueuedTransaction,
        snapshot: TransactionSnapshot,
        traceparent: String?,
        at time: Timestamp
    ) -> Change {
        known[after.id] = after
        counts[after.queue, default: 0] += 1
        let change = Change(
            after: after,
            snapshot: snapshot,
            traceparent: traceparent,
            time: time,
            ordinal: counts[after.queue, default: 0]
        )
        changes.append(change)
        return change
    }

    /// Of several versions of an account the highest is one change, behind those of transactions:
    /// an account is what it is, not how it came to be.
    mutating func change(
        _ accounts: [ArrivedAccount],
        _ versions: [QueueKey: Int],
        at time: Timestamp
    ) {
        var newest = versions
        for arrival in accounts {
            newest[arrival.queue] = max(newest[arrival.queue] ?? 0, arrival.version)
        }
        for arrival in accounts where newest[arrival.queue] == arrival.version {
            guard arrival.version > versions[arrival.queue] ?? 0 else { continue }
            // The same version a second time.
            newest[arrival.queue] = nil
            note(arrival, at: time)
        }
    }

    /// Adds a change of an account that is decided already.
    @discardableResult
    mutating func note(_ arrival: ArrivedAccount, at time: Timestamp) -> AccountChange {
        counts[arrival.queue, default: 0] += 1
        let change = AccountChange(
            arrival: arrival,
            time: time,
            ordinal: counts[arrival.queue, default: 0]
        )
        accountChanges.append(change)
        return change
    }

    /// The last change of each transaction, which is what its row keeps.
    var rows: [Change] {
        var last: [TransactionID: Int] = [:]
        for (index, change) in changes.enumerated() { last[change.after.id] = index }
        return last.values.sorted().map { changes[$0] }
    }

    /// The last change of each account, which is what its row keeps.
    var newestAccounts: [AccountChange] {
        var last: [QueueKey: Int] = [:]
        for (index, change) in accountChanges.enumerated() { last[change.arrival.queue] = index }
        return last.values.sorted().map { accountChanges[$0] }
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
