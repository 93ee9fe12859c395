import ClockAndIDs
import EventTypes
import Foundation
import Kafka
import OperatorCore
import StoreAPI
import Subscriptions

/// The means of long work: databases, broker, and the services' own executables.
struct JobTools: JobWork {
    let databases: DatabaseAddresses
    /// The broker; `nil` if the console may not replay.
    var kafka: KafkaSettings?
    /// The folder of the archived months; `nil` if there is none.
    var archives: String?
    /// A server for the rebuilt books; `nil` if the console may not prove.
    var shadow: String?
    /// The folder of the services' executables.
    var executables = ""
    /// The decisions of `payments` about subscriptions, by which a reconciliation audits them.
    var subscriptions = SubscriptionPolicy(calendar: PeriodCalendar(timeZone: .gmt))

    /// Whether a kind of job can be begun here.
    func canDo(_ kind: JobRecord.Kind) -> Bool {
        switch kind {
        case .replay: kafka != nil
        case .proof: shadow != nil
        // Whoever raises brings a token, and the work needs nothing else.
        case .raise: true
        case .reconciliation: true
        }
    }

    /// The dry run of a replay, which sends nothing.
    func plan(_ order: ReplayOrder) async throws -> ReplayPlan {
        let planner = ReplayPlanner(
            selection: order.selection,
            consumer: order.consumer,
            archives: archives(of: order),
            databases: address
        )
        try await planner.requireSealedLogs()
        let (outline, ends) = try await planner.plan(.logs)
        return outline.plan(ends: ends)
    }

    /// Sends what a journal has left.
    ///
    /// - Returns: Whether everything was sent; it was not if the meter was asked to stop.
    func send(
        _ order: ReplayOrder,
        _ journal: ReplayJournal,
        _ path: String,
        _ meter: JobMeter
    ) async throws -> Bool {
        guard let kafka else {
            throw OperatorError(.usage, "KAFKA_BOOTSTRAP_SERVERS is not set.")
        }
        return try await ReplayRunner.withLocks(
            of: order.selection.services,
            databases: address,
            archives: archives(of: order),
            kafka: kafka,
            progress: meter.note,
            isInterrupted: { meter.isAskedToStop }
        ) { runner in
            // Written under the locks, so that no other replay's journal is touched.
            var journal = journal
            try journal.write(to: path)
            return try await runner.run(&journal, journalPath: path)
        }
    }

    /// Rebuilds the books of all services, and compares them.
    func prove(_ meter: JobMeter) async throws -> VerificationReport {
        guard let shadow else {
            throw OperatorError(.usage, "COUNTERFOIL_SHADOW_DATABASE_URL is not set.")
        }
        let all = OperatedService.allCases
        let addresses = all.map { ($0, databases.address(of: $0)) }
        return try await VerificationRunner(
            resources: VerificationRunner.Resources(
                databases: Dictionary(uniqueKeysWithValues: addresses),
                shadow: shadow,
                executables: executables,
                archives: archives
            ),
            services: all,
            progress: meter.note
        ).run()
    }

    /// Compares the books of all services with each other, but for what changed within a minute.
    func reconcile(_ meter: JobMeter) async throws -> Reconciliation {
        try await ReconcileRunner(
            databases: databases,
            settled: .seconds(60),
            since: nil,
            limit: JobRecord.differencesOfAKindMax,
            subscriptions: subscriptions
        ).run { meter.note($0.seen + ($0.answer.subscriptions ?? 0)) }.answer
    }

    /// Counts or raises the subscriptions of one page of the store's list.
    func page(
        of raise: SubscriptionRaise,
        after place: TransactionID?,
        over connection: StoreConnection
    ) async throws -> (counts: SubscriptionRaise.Counts, next: TransactionID?) {
        // A million requests would make one trace out of the act that began the raise.
        try await StoreConnection.withTrace(nil) {
            try await raise.page(after: place, over: connection)
        }
    }

    private var address: @Sendable (String) -> DatabaseAddress {
        { [databases] in databases.address(named: $0) }
    }

    private func archives(of order: ReplayOrder) -> ReplayArchives {
        ReplayArchives(directory: archives, since: order.selection.since)
    }
}
