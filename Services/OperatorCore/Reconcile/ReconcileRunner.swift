import ClockAndIDs
import EventArchive
package import EventTypes
import Foundation
import Messaging
import Postgres
import Seals
import StoreAPI
package import Subscriptions

/// Compares the books of the whole store, a page of transactions at a time.
///
/// Memory does not grow with the store: a page is read, compared and forgotten, and only the
/// differences that are shown are kept. No database transaction stays open from page to page.
/// Transactions that differ are read a second time, so that a purchase that changed between two
/// reads does not count as a difference. Transactions that changed recently are not compared.
package struct ReconcileRunner: Sendable {
    private let databases: DatabaseAddresses
    /// The time for which a transaction must not have changed to be compared; zero for everything.
    private let settled: Duration
    /// The earliest request time of the purchases to compare; `nil` for all.
    private let since: StoreTime?
    /// The largest number of differences of a kind, and of transactions, that are kept.
    private let limit: Int
    /// Whether compared transactions are kept for the report.
    private let listsTransactions: Bool
    /// The time for which the comparison is repeated while there are differences.
    private let patience: Duration
    /// The decisions of `payments` about subscriptions.
    private let subscriptions: SubscriptionPolicy

    private static let pageLength = 2_000
    /// Concurrent requests draw ids before they read the time, so ids and times may be out of
    /// order.
    private static let slack: Int64 = 1_000
    /// The pause between two comparisons.
    private static let pause = Duration.milliseconds(200)
    /// The tolerance for differences between the services' clocks.
    private static let clockSlack = Duration.seconds(86_400)

    /// Makes a runner; its properties say what the values mean.
    package init(
        databases: DatabaseAddresses,
        settled: Duration,
        since: StoreTime?,
        limit: Int,
        listsTransactions: Bool = false,
        patience: Duration = .zero,
        subscriptions: SubscriptionPolicy
    ) {
        self.databases = databases
        self.settled = settled
        self.since = since
        self.limit = limit
        self.listsTransactions = listsTransactions
        self.patience = patience
        self.subscriptions = subscriptions
    }

    /// Compares all books.
    ///
    /// - Parameter tell: Gets the report so far, after each page.
    /// - Returns: The report.
    /// - Throws: ``OperatorError`` if a database cannot be read; `CancellationError` between two pages
    ///   if the task was cancelled.
    package func run(
        tell: @Sendable (ReconcileReport) -> Void
    ) async throws -> ReconcileReport {
        let addresses = (
            databases.address(of: .payments), databases.address(of: .receipts),
            databases.address(of: .fulfillment)
        )
        // Statements that read a whole log take long.
        let timeout = Duration.seconds(600)
        return try await DatabaseReader.withSession(addresses.0, statementTimeout: timeout) {
            payments in
            try await DatabaseReader.withSession(addresses.1, statementTimeout: timeout) {
                receipts in
                try await DatabaseReader.withSession(addresses.2, statementTimeout: timeout) {
                    fulfillment in
                    let books = ReconcileReader(payments, receipts, fulfillment)
                    let margin = ReconcileMargin(
                        settled: settled,
                        wait: patience,
                        isClockSet: try await payments.run { try StoreClockStore.isSet(on: $0) }
                    )
                    let deadline = ContinuousClock.now + margin.patience
                    while true {
                        let report = try await compare(books, margin, tell: tell)
                        guard report.differenceCount > 0, ContinuousClock.now < deadline else {
                            return report
                        }
                        try await Task.sleep(for: Self.pause)
                    }
                }
            }
        }
    }

    private func compare(
        _ books: ReconcileReader,
        _ margin: ReconcileMargin,
        tell: @Sendable (ReconcileReport) -> Void
    ) async throws -> ReconcileReport {
        let now = try await books.payments.run { try StoreClockStore.now(on: $0) }
        let list = try await books.payments.run { try ReconcileListStore.readUntil(on: $0) }
        let cutoff = margin.cutoff(at: now, listedUntil: list?.end)
        var report = ReconcileReport(
            since: since,
            until: cutoff ?? now,
            limit: limit,
            listsTransactions: listsTransactions
        )
        try await comparePages(books, cutoff, &report, tell: tell)
        try await payments.findUnknownCharges(
            books,
            cutoff ?? now.advanced(by: Self.clockSlack),
            &report
        )
        try await payments.findUnposted(books, &report)
        try await payments.compareBalances(books, &report)
        if let list {
            let told = try await books.payments.run { try ReconcileListStore.balanceTold(on: $0) }
            report.noteBalance(
                toldAt: told?.time,
                at: list.now,
                of: told?.account ?? list.account
            )
        }
        if let list, list.now.duration(since: list.end) > ReconcileReport.toldAgeMax {
            report.add(
                Difference(
                    kind: .listNotRead,
                    transactionID: nil,
                    subject: "processor",
                    detail: "read until \(list.end)"
                        + ReconcileListStore.words(for: list.account)
                )
            )
        }
        try await SubscriptionAuditRunner(since: since, policy: subscriptions)
            .run(books, cutoff, at: now, &report, tell: tell)
        try await payments.compareRedemptions(books, &report)
        try await payments.compareRequests(books, &report)
        try await payments.compareShares(books, at: now, &report)
        for fact in ReconcileLogStore.Fact.allCases {
            try await compareLog(of: fact, books, &report)
        }
        try await compareAccounts(books, cutoff, &report)
        try await findDeadLetters(books, &report)
        return report
    }

    private var payments: PaymentsReconcileRunner {
        PaymentsReconcileRunner(since: since, limit: limit)
    }

    private func comparePages(
        _ books: ReconcileReader,
        _ cutoff: StoreTime?,
        _ report: inout ReconcileReport,
        tell: @Sendable (ReconcileReport) -> Void
    ) async throws {
        func isDue(_ books: TransactionBooks) -> Bool {
            guard let cutoff, let changed = books.changedAt else { return true }
            return changed < cutoff
        }
        var last: Int64 = 0
        if let since {
            // There are no transactions at all, so the range starts at the beginning.
            last = try await books.firstID(since: since).map { $0 - 1 - Self.slack } ?? 0
        }
        var isEnd = false
        while !isEnd {
            try Task.checkCancellation()
            let after = last
            let known = try await books.payments.run { connection in
                try ReconcileStore.ids(after: after, limit: Self.pageLength, on: connection)
            }
            isEnd = known.count < Self.pageLength
            let end = isEnd ? Int64.max : known.last ?? Int64.max
            let ids = try await books.ids(in: (after + 1)...end, limit: Self.pageLength)
            let page = try await books.read(Set(known).union(ids))
            let suspects = page.filter { isDue($0) && !ReconcileRules.differences(in: $0).isEmpty }
            let again = suspects.isEmpty ? [] : try await books.read(Set(suspects.map(\.id.number)))
            let seen = Dictionary(again.map { ($0.id, $0) }) { $1 }
            for transaction in page.sorted(by: { $0.id.number < $1.id.number }) {
                let newest = seen[transaction.id] ?? transaction
                report.add(newest, isDue: isDue(newest))
            }
            last = end
            tell(report)
        }
    }

    /// Compares a service's tables with its event log.
    ///
    /// Both are written in one database transaction and read in one, so nothing is ever on its way.
    /// Months that have left the log are not compared.
    private func compareLog(
        of fact: ReconcileLogStore.Fact,
        _ books: ReconcileReader,
        _ report: inout ReconcileReport
    ) async throws {
        let connection = books.connection(to: fact.service)
        let dropped = try await connection.run { try LogArchiveStore.dropped(on: $0) }
        let kept = dropped.map(\.month).max().flatMap { month in
            StoreTime("\(month.advanced(by: 1))-01T00:00:00Z")
        }
        var (first, begin) = (Int64.min, StoreTime(millisecondsSinceEpoch: 0))
        if let time = [since, kept].compactMap(\.self).max() {
            guard let id = try await books.firstID(since: time) else { return }
            first = id
            begin = time.advanced(by: .zero - Self.clockSlack)
        }
        let range = (first, begin, limit + 1)
        let miscounted = try await connection.reading { connection in
            try ReconcileLogStore.miscounted(
                fact,
                from: range.0,
                since: range.1,
                limit: range.2,
                on: connection
            )
        }
        for (id, count) in miscounted {
            report.add(
                Difference(
                    kind: count == 0 ? .notTold : .toldTwice,
                    transactionID: TransactionID(number: id),
                    detail: "\(count) events \(fact.type)"
                )
            )
        }
    }

    /// Compares the versions of accounts with those that their clients see.
    private func compareAccounts(
        _ books: ReconcileReader,
        _ cutoff: StoreTime?,
        _ report: inout ReconcileReport
    ) async throws {
        try await books.forEachVersion(.known) { known, sent in
            report.add(accounts: known.count)
            for (key, version) in known where sent[key] ?? 0 < version {
                if let cutoff, try await books.hasChanged(key, since: cutoff) { continue }
                report.add(
                    Difference(
                        kind: .accountNotTold,
                        transactionID: nil,
                        subject: "\(key)",
                        detail: "version \(version), sent to clients \(sent[key] ?? 0)"
                    )
                )
            }
        }
        // Payments is read after fulfillment here, so a version that it does not know never
        // existed.
        try await books.forEachVersion(.sent) { sent, known in
            for (key, version) in sent where known[key] ?? 0 < version {
                report.add(
                    Difference(
                        kind: .accountUnknown,
                        transactionID: nil,
                        subject: "\(key)",
                        detail: "sent to clients \(version), known \(known[key] ?? 0)"
                    )
                )
            }
        }
    }

    private func findDeadLetters(
        _ books: ReconcileReader,
        _ report: inout ReconcileReport
    ) async throws {
        let cutoff = settled > .zero ? MachineTime.now().advanced(by: .zero - settled) : nil
        let query = DeadLetterStore.Query(limit: limit + 1)
        for service in OperatedService.consumers {
            let letters = try await books.connection(to: service).run {
                try DeadLetterStore.letters(query, on: $0)
            }
            for letter in letters where cutoff.map({ letter.recordedAt < $0 }) ?? true {
                report.add(
                    Difference(
                        kind: .deadLetter,
                        transactionID: TransactionID(rawValue: letter.subject),
                        subject: letter.key,
                        detail: "\(letter.type) is \(letter.state) in \(service.rawValue): "
                            + letter.reason
                    )
                )
            }
        }
    }
}
