import ArgumentParser
import ClockAndIDs
import EventTypes
import Foundation
import OperatorCore
import StoreAPI
import Subscriptions

/// `counterfoil reconcile`: checks that all books agree.
struct ReconcileCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "reconcile",
        abstract: "Compares payments, the processor's list, the ledger, receipts and deliveries.",
        discussion: """
            Looks up every transaction in all books. It must have been charged once and posted \
            once, in balance; it must have one receipt, every delivery of its plan, its credits \
            and entitlement, its finish, and exactly one event for each of these facts. Accounts \
            are compared too, offer codes with the payments that redeemed them, shares with \
            families, and approved requests with their refunds. Events that a service could not \
            apply are reported. Every \
            subscription is audited: its periods and their dates, charges, refunds and prices, its \
            changes, what is due next, and what the other services show of it. Each difference is \
            listed with advice on what to do.

            Anything that changed less than --settled ago is still on its way and is left out. If \
            the clock of a sandbox was set, nothing says how long ago that is. Then everything is \
            compared, for up to --settled seconds, until all books agree. \
            Purchases that wait for the app's finish or for an approval are not differences.

            The processor's list is the sandbox's own, or what payments has read of Stripe's \
            balance: charges, refunds, disputes, fees and payouts. What changed since it was last \
            read is left out.

            A span for --since counts back from the store's present, also if its clock was set.

            Examples:
              counterfoil reconcile
              counterfoil reconcile --since 24h
              counterfoil reconcile --since 2026-11-21T00:00:00Z --json
              counterfoil reconcile --settled 0 --wait 60 --transactions --json

            Exit codes:
              0   all books agree
              1   they differ
              69  a database is unavailable

            JSON (the type Reconciliation of the library StoreAPI; fields are only added):
              {"since", "until", "compared", "onTheirWay", "free", "accounts",
               "subscriptions",
               "purchased" | "processor" | "postings" | "receipts" | "deliveries":
                 {"count", "amounts": {currency: minor units}},
               "lost", "doubled", "wrong", "differenceCounts": {kind: count},
               "differences": [{"kind", "effect": "lost" | "doubled" | "wrong",
                 "transactionID", "subject", "detail",
                 "refund": {"transactionID", "refunded", "due"}}],
               "transactions": [{"id", "entry", "charges", "postings", "receipts",
                 "isFinishedInReceipts",
                 "queued": {…, "deliveries", "credits", "isEntitled"}}]}

            Kinds: \(Difference.Kind.allCases.map(\.rawValue).joined(separator: ", ")).
            """
    )

    @OptionGroup var databases: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Only purchases since a UTC time (RFC 3339), or of the last 90min, 24h, 7d.")
    var since: String?

    @Option(help: "Leave out what changed less than this many seconds ago, from 0 to 86400.")
    var settled = 60

    @Option(help: "Repeat until all books agree, for at most this many seconds (up to 3600).")
    var wait = 0

    @Flag(
        help: "With --json: list each compared transaction with its state in every book."
    )
    var transactions = false

    @Option(help: "The time zone of subscriptions: SUBSCRIPTION_TIME_ZONE of payments.")
    var timeZone = "Etc/UTC"

    @Option(help: "The rate of subscriptions: SANDBOX_SUBSCRIPTION_RATE of payments.")
    var subscriptionRate = SubscriptionRate.realTime.rawValue

    @Option(help: "The most differences of a kind, and transactions, to list (up to 1000000).")
    var limit = 100

    func validate() throws {
        guard (0...86_400).contains(settled) else {
            throw ValidationError("--settled must be from 0 to 86400 seconds.")
        }
        guard (1...1_000_000).contains(limit) else {
            throw ValidationError("--limit must be from 1 to 1000000.")
        }
        guard (0...3_600).contains(wait) else {
            throw ValidationError("--wait must be from 0 to 3600 seconds.")
        }
        guard TimeZone(identifier: timeZone) != nil else {
            throw ValidationError("'\(timeZone)' is not a time zone such as Europe/Berlin.")
        }
        guard SubscriptionRate(rawValue: subscriptionRate) != nil else {
            let names = SubscriptionRate.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--subscription-rate must be one of \(names).")
        }
        guard !transactions || output.json else {
            throw ValidationError("--transactions needs --json.")
        }
        if let since, Self.time(since, before: .wallClock()) == nil {
            throw ValidationError("'\(since)' is not a time such as 2026-11-21T00:00:00Z or 24h.")
        }
    }

    func perform() async throws {
        var policy = SubscriptionPolicy(
            calendar: PeriodCalendar(timeZone: TimeZone(identifier: timeZone) ?? .gmt)
        )
        policy.rate = SubscriptionRate(rawValue: subscriptionRate) ?? .realTime
        let runner = ReconcileRunner(
            databases: databases.addresses(),
            settled: .seconds(settled),
            since: try await begin(),
            limit: limit,
            listsTransactions: transactions,
            patience: .seconds(wait),
            subscriptions: policy
        )
        let isWatched = isatty(STDERR_FILENO) == 1 && !output.json
        let progress = isWatched ? ProgressLine() : nil
        let report = try await runner.run { report in
            let subscriptions = report.answer.subscriptions ?? 0
            progress?.show(
                "\(report.seen.grouped) transactions"
                    + (subscriptions > 0 ? ", \(subscriptions.grouped) subscriptions…" : "…")
            )
        }
        progress?.end()
        if output.json {
            try Console.say(json: report.answer)
        } else {
            report.lines(output.palette).forEach(Console.say)
        }
        guard report.differenceCount > 0 else { return }
        throw OperatorError(
            .failed,
            "\(report.differenceCount) \(report.differenceCount == 1 ? "difference" : "differences")."
        )
    }

    /// The time since which purchases are compared; `nil` for all.
    ///
    /// A span counts back from the present of the store, whose clock may have been set.
    func begin() async throws -> StoreTime? {
        guard let since else { return nil }
        if let time = StoreTime(since) { return time }
        let now = try await DatabaseReader.storeTime(databases.addresses())
        return Self.time(since, before: now)
    }

    /// Reads a moment, given as a time or as a duration before now.
    static func time(_ text: String, before now: StoreTime) -> StoreTime? {
        if let time = StoreTime(text) { return time }
        let units: [(String, Int64)] = [("min", 60), ("h", 3_600), ("d", 86_400), ("s", 1)]
        guard let (suffix, seconds) = units.first(where: { text.hasSuffix($0.0) }),
            let number = Int64(text.dropLast(suffix.count)), (0...1_000_000).contains(number)
        else { return nil }
        return now.advanced(by: .seconds(-number * seconds))
    }
}
