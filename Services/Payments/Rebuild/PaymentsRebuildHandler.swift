import ClockAndIDs
import EventTypes
import Foundation
import Ledger
import Messaging
import Postgres
import Rebuild
import Subscriptions

/// Rebuilds the tables of `payments` from its own log, the finishes of `fulfillment` and the
/// products of `catalog`.
struct PaymentsRebuildHandler: Rebuilder {
    static let ownTypes: Set<EventType> = [
        .transactionPurchasing, .transactionDeferred, .transactionApproved, .transactionPurchased,
        .transactionFailed, .transactionRestored, .transactionRefunded,
        .transactionRefundReversed, .strayCharged, .strayChargeReturned, .accountChanged,
        .clockChanged, .subscriptionChanged, .refundRequestChanged, .familyChanged,
        .transactionExtended, .massExtensionChanged, .transactionWaitChanged,
    ]

    private let projection = ProjectionHandler()
    /// The owner of rebuilt attempts, which are all settled and never taken.
    private let owner = LeaseOwner(time: MachineTime(millisecondsSinceEpoch: 0))

    /// The rules of due actions, which follow from the dates of a subscription and from no setting.
    private let dueActions = DueActionRules(
        policy: SubscriptionPolicy(calendar: PeriodCalendar(timeZone: .gmt))
    )

    let sources: [RebuildSource] = [
        .own(.payments, ownTypes),
        .consumed(
            .catalog,
            [.productChanged],
            by: .payments
        ),
        .consumed(
            .fulfillment,
            [.transactionFinished],
            by: .payments
        ),
    ]

    let unreadIndexes = [
        "transactions_restorable", "processor_attempts_due", "processor_attempts_approvals",
        "processor_attempts_key", "processor_attempts_waiting",
        "ledger_postings_in_commit_order", "subscriptions_due", "subscriptions_charging",
        "subscriptions_unpaid", "refund_requests_in_order", "refund_requests_by_state",
        "mass_extensions_open",
        // A share that was taken away is inserted as one that stands, before it is updated.
        "transactions_shared_once",
    ]

    var tables: [RebuiltTable] { PaymentsTables.all }

    func apply(
        _ rows: [OutboxRow],
        on shadow: isolated PostgresConnection
    ) throws -> [LogContradiction] {
        let clockRows = rows.filter { $0.event.type == .clockChanged }
        let subscriptionRows = rows.filter { $0.event.type == .subscriptionChanged }
        let requestRows = rows.filter { $0.event.type == .refundRequestChanged }
        let familyRows = rows.filter { $0.event.type == .familyChanged }
        let massRows = rows.filter { $0.event.type == .massExtensionChanged }
        let others: Set<EventType> = [
            .clockChanged, .subscriptionChanged, .refundRequestChanged, .familyChanged,
            .massExtensionChanged,
        ]
        let rows = rows.filter { !others.contains($0.event.type) }
        var history = PaymentHistory(
            records: try TransactionStore.load(PaymentHistory.subjects(of: rows), on: shadow)
        )
        var unread: [LogContradiction] = []
        for row in rows {
            unread += try LogContradiction.reading([row]) { _ in try history.apply(row) }
        }
        try store(history, on: shadow)
        let more = try storeAccounts(history.accountSteps, on: shadow)
        let clock = try storeClock(clockRows, on: shadow)
        try storeIntroductions(history.introductions, on: shadow)
        let subscriptions = try storeSubscriptions(subscriptionRows, on: shadow)
        let requests = try storeRefundRequests(requestRows, on: shadow)
        let families = try FamilyHistoryWriter.store(familyRows, on: shadow)
        let masses = try storeMassExtensions(massRows, on: shadow)
        return unread + history.contradictions + more + clock + subscriptions + requests + families
            + masses
    }

    /// Stores requests to extend all subscribers of a product, in the order of their events.
    ///
    /// An event about one subscription changes nothing of its request.
    private func storeMassExtensions(
        _ rows: [OutboxRow],
        on shadow: isolated PostgresConnection
    ) throws -> [LogContradiction] {
        var unread: [LogContradiction] = []
        for row in rows {
            var change: MassExtensionChanged?
            unread += try LogContradiction.reading([row]) { _ in
                change = try EventCoding.decode(MassExtensionChanged.self, from: row.event.data)
            }
            guard let change, change.failed == nil else { continue }
            try MassExtensionStore.restore(change.request, by: change.act, on: shadow)
        }
        return unread
    }

    /// Stores buyers' requests for refunds, in the order of their events.
    private func storeRefundRequests(
        _ rows: [OutboxRow],
        on shadow: isolated PostgresConnection
    ) throws -> [LogContradiction] {
        var unread: [LogContradiction] = []
        for row in rows {
            var change: RefundRequestChanged?
            unread += try LogContradiction.reading([row]) { _ in
                change = try EventCoding.decode(RefundRequestChanged.self, from: row.event.data)
            }
            guard let change else { continue }
            try RefundRequestStore.save(
                RefundRequestRecord(request: change.request, act: change.act),
                on: shadow
            )
        }
        return unread
    }

    /// Stores which transactions have the introductory offers of their accounts.
    private func storeIntroductions(
        _ steps: [(transaction: Transaction, isGivenBack: Bool)],
        on shadow: isolated PostgresConnection
    ) throws {
        let keys = Set(steps.compactMap { SubscriptionKey(of: $0.transaction) })
        try SubscriptionStore.open(keys, on: shadow)
        var books = SubscriptionBooks(
            SubscriptionStateMachine(policy: dueActions.policy),
            at: StoreTime(millisecondsSinceEpoch: 0)
        )
        books.take(try shadow.read(SubscriptionStore.reading(keys)))
        for step in steps {
            if step.isGivenBack {
                books.giveIntroductionBack(by: step.transaction)
            } else {
                books.introduce(by: step.transaction)
            }
        }
        try SubscriptionStore.saveIntroductions(books.introducedRows, on: shadow)
    }

    /// Stores the newest version of each subscription.
    private func storeSubscriptions(
        _ rows: [OutboxRow],
        on shadow: isolated PostgresConnection
    ) throws -> [LogContradiction] {
        guard !rows.isEmpty else { return [] }
        var contradictions: [LogContradiction] = []
        var changes: [(row: OutboxRow, subscription: Subscription)] = []
        for row in rows {
            contradictions += try LogContradiction.reading([row]) { _ in
                let change = try EventCoding.decode(SubscriptionChanged.self, from: row.event.data)
                changes.append((row, change.subscription))
            }
        }
        let keys = Set(changes.map { SubscriptionKey(of: $0.subscription) })
        try SubscriptionStore.open(keys, on: shadow)
        var newest: [SubscriptionKey: SubscriptionRow] = [:]
        for row in try shadow.read(SubscriptionStore.reading(keys)) { newest[row.key] = row }
        for change in changes {
            let key = SubscriptionKey(of: change.subscription)
            let version = newest[key]?.subscription?.version ?? 0
            if change.subscription.version != version + 1 {
                contradictions.append(
                    LogContradiction(change.row, "it follows version \(version)")
                )
            }
            newest[key] = SubscriptionRow(key: key, subscription: change.subscription)
        }
        try SubscriptionStore.save(Array(newest.values), by: dueActions, on: shadow)
        return contradictions
    }

    func consume(_ events: [ReceivedEvent], on shadow: isolated PostgresConnection) throws {
        try projection.apply(events, on: shadow)
    }

    /// Follows the changes of the store's clock.
    ///
    /// A change that was published again, because the broker had lost it, is the same step.
    private func storeClock(
        _ rows: [OutboxRow],
        on shadow: isolated PostgresConnection
    ) throws -> [LogContradiction] {
        guard !rows.isEmpty else { return [] }
        var contradictions: [LogContradiction] = []
        var followed = try ClockStore.load(on: shadow).followed
        for row in rows {
            var change: ClockChanged?
            let unread = try LogContradiction.reading([row]) { _ in
                change = try EventCoding.decode(ClockChanged.self, from: row.event.data)
            }
            contradictions += unread
            guard let change, change != ClockChanged(step: followed.step, clock: followed.clock)
            else { continue }
            if change.step != followed.step + 1 {
                contradictions.append(LogContradiction(row, "it follows step \(followed.step)"))
            }
            followed.follow(change.clock, step: change.step)
        }
        try ClockStore.save(ClockState(followed: followed), on: shadow)
        return contradictions
    }

    private func store(
        _ history: PaymentHistory,
        on shadow: isolated PostgresConnection
    ) throws {
        let inserted = history.inserted.compactMap { history.records[$0] }
        try TransactionStore.insert(inserted, on: shadow)
        // A new row is inserted in its final state, except for columns that an insert does not
        // write.
        let isNew = Set(history.inserted)
        let updated = history.changed.sorted().compactMap { history.records[$0] }.filter {
            !isNew.contains($0.transaction.id) || $0.transaction.refunds != nil
                || $0.approval != nil || $0.transaction.awaitsBuyer != nil
        }
        try TransactionStore.update(updated, on: shadow)
        try PaymentsRebuildStore.setTaxRates(
            history.taxed.compactMap { history.records[$0] },
            on: shadow
        )
        try AttemptStore.insert(
            history.newAttempts.sorted { $0.key < $1.key }.map(\.value),
            owner: owner,
            calledFrom: MachineTime.now(),
            on: shadow
        )
        try AttemptStore.update(history.strayCharges, owner: owner, on: shadow)
        try LedgerStore.append(history.postings, on: shadow)
        for resumption in history.resumptions {
            try ResumptionStore.insert(
                resumption.id,
                after: resumption.after,
                at: resumption.at,
                on: shadow
            )
        }
        try storeOwnerships(history, on: shadow)
    }

    private func storeOwnerships(
        _ history: PaymentHistory,
        on shadow: isolated PostgresConnection
    ) throws {
        let keys = Array(history.ownershipChanges.keys)
        let before = try OwnershipStore.lock(keys, on: shadow)
        try PaymentsRebuildStore.setOwners(
            keys.map { ($0, history.owner(of: $0, after: before[$0])) },
            on: shadow
        )
    }

    /// Stores accounts one by one: they are few, and each step depends on the one before.
    private func storeAccounts(
        _ steps: [PaymentHistory.AccountStep],
        on shadow: isolated PostgresConnection
    ) throws -> [LogContradiction] {
        var contradictions: [LogContradiction] = []
        for step in steps {
            switch step {
            case .paid(let intent, let id, let time):
                try PurchaseIntentStore.end([(intent, id)], at: time, on: shadow)
            case .changed(let account, let time, let row):
                let before = try store(account, at: time, on: shadow)
                if before.version + 1 != account.version {
                    contradictions.append(
                        LogContradiction(row, "it follows version \(before.version)")
                    )
                }
            }
        }
        return contradictions
    }

    /// Writes an account as an event says.
    ///
    /// - Returns: The account before the event.
    private func store(
        _ account: Account,
        at time: StoreTime,
        on shadow: isolated PostgresConnection
    ) throws -> Account {
        let key = AccountKey(accountID: account.accountID, bundleID: account.bundleID)
        try AccountStore.lock(key, on: shadow)
        let before =
            try AccountStore.load([key], on: shadow)[key]
            ?? Account(accountID: key.accountID, bundleID: key.bundleID)
        try AccountStore.change(account, on: shadow)
        try AccountStore.raise([key], on: shadow)
        let open = Set(account.purchaseIntents.map(\.id))
        try PurchaseIntentStore.end(
            before.purchaseIntents.filter { !open.contains($0.id) }.map { ($0.id, nil) },
            at: time,
            on: shadow
        )
        let knownIntents = Set(before.purchaseIntents.map(\.id))
        for intent in account.purchaseIntents where !knownIntents.contains(intent.id) {
            try PurchaseIntentStore.insert(intent, of: key, idempotencyKey: nil, on: shadow)
        }
        return before
    }
}
