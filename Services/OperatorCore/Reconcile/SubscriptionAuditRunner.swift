import ClockAndIDs
import EventArchive
import EventTypes
import Messaging
import Postgres
import Seals
import StoreAPI
import Subscriptions

/// Audits the subscriptions of a whole store.
struct SubscriptionAuditRunner: Sendable {
    /// The earliest beginning of the subscriptions to audit; `nil` for all.
    let since: StoreTime?
    /// The decisions of `payments` about subscriptions.
    let policy: SubscriptionPolicy

    /// The number of events of subscriptions that are read at a time.
    private static let eventPage = 2_000

    /// Audits all subscriptions (docs/subscriptions.md, invariants).
    ///
    /// A snapshot of `payments` is open meanwhile, because one pass over its log serves all
    /// subscriptions. Memory holds the events of one page. A subscription that changed after the cutoff
    /// is left out, and so is one that began in a month that has left the log.
    func run(
        _ books: ReconcileReader,
        _ cutoff: StoreTime?,
        at time: StoreTime,
        _ report: inout ReconcileReport,
        tell: @Sendable (ReconcileReport) -> Void
    ) async throws {
        let payments = books.payments
        let dropped = try await payments.run { try LogArchiveStore.dropped(on: $0) }
        let kept = dropped.map(\.month).max().flatMap { month in
            StoreTime("\(month.advanced(by: 1))-01T00:00:00Z")
        }
        var first: Int64 = 1
        if let begin = [since, kept].compactMap(\.self).max() {
            guard let id = try await books.firstID(since: begin) else { return }
            first = id
        }
        let start = first
        try await payments.run { connection in
            try connection.beginSnapshot()
            try SubscriptionAuditStore.open(from: start, on: connection)
        }
        var told = SubscriptionEventPages()
        repeat {
            try Task.checkCancellation()
            let page = try await payments.run {
                try SubscriptionAuditStore.next(limit: Self.eventPage, on: $0)
            }
            told.add(page, isLast: page.count < Self.eventPage)
            let whole = told.takeWhole()
            let records = try await self.records(of: whole, books)
            for (id, _) in whole where records[id] == nil {
                report.add(
                    Difference(
                        kind: .subscriptionDiffers,
                        transactionID: TransactionID(number: id),
                        detail: "its row cannot be read"
                    )
                )
            }
            for record in whole.compactMap({ records[$0.id] }) {
                if let cutoff, let changed = record.changedAt, changed >= cutoff { continue }
                report.add(subscriptions: 1)
                for difference in record.differences(by: audit, at: time) {
                    report.add(difference)
                }
            }
            tell(report)
        } while !told.isAtEnd
        try await payments.run { _ = try $0.execute("ROLLBACK") }
    }

    private var audit: SubscriptionAudit {
        // The grace period may have been another one when it began.
        SubscriptionAudit(policy: policy, graceMax: .days(28))
    }

    private func records(
        of events: [(id: Int64, events: [SubscriptionChanged])],
        _ books: ReconcileReader
    ) async throws -> [Int64: SubscriptionRecords] {
        let ids = events.map(\.id)
        var records = try await books.payments.run {
            try SubscriptionAuditStore.records(of: ids, on: $0)
        }
        for (id, events) in events { records[id]?.events = events }
        let periods = records.values.map(\.subscription).flatMap { subscription in
            [subscription.earlierPeriod, subscription.period].compactMap {
                $0?.transactionID.number
            }
        }
        // Signatures are read before the versions that they belong to: what changed later is not
        // compared.
        let signed = try await books.connection(to: .receipts).run {
            try SubscriptionAuditStore.signed(periods, on: $0)
        }
        for service in [OperatedService.receipts, .fulfillment] {
            let views = try await books.connection(to: service).run {
                try SubscriptionAuditStore.views(of: ids, in: service.name, on: $0)
            }
            for (id, view) in views { records[id]?.views[service.name] = view }
        }
        // Notifications are read after the versions that they belong to.
        let notifications = try await books.connection(to: .receipts).run {
            try SubscriptionAuditStore.notifications(of: ids, on: $0)
        }
        for (id, record) in records {
            records[id]?.signed = signed
            let since = notifications.completeSince[record.subscription.bundleID]
            records[id]?.notifications = SubscriptionRecords.Notifications(
                stored: notifications.stored[id] ?? [],
                completeSince: since
            )
        }
        return records
    }
}
