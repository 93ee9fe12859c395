import EventTypes
import OperatorCore
import StoreAPI

/// The long work that a board of jobs keeps account of.
protocol JobWork: Sendable {
    /// Whether a kind of job can be begun here.
    func canDo(_ kind: JobRecord.Kind) -> Bool

    /// The dry run of a replay, which sends nothing.
    func plan(_ order: ReplayOrder) async throws -> ReplayPlan

    /// Sends what a journal has left.
    ///
    /// - Returns: Whether everything was sent; it was not if the meter was asked to stop.
    func send(
        _ order: ReplayOrder,
        _ journal: ReplayJournal,
        _ path: String,
        _ meter: JobMeter
    ) async throws -> Bool

    /// Rebuilds the books of all services, and compares them.
    func prove(_ meter: JobMeter) async throws -> VerificationReport

    /// Compares the books of all services with each other.
    func reconcile(_ meter: JobMeter) async throws -> Reconciliation

    /// Counts or raises the subscriptions of one page of the store's list.
    ///
    /// - Parameters:
    ///   - raise: The raise.
    ///   - place: The end of the page before; `nil` for the first page.
    ///   - connection: A connection to `payments`, with the token of whoever raises.
    /// - Returns: The numbers of this page, and its end if there is a next one.
    /// - Throws: `OperatorError` if the store refuses it, or is away.
    func page(
        of raise: SubscriptionRaise,
        after place: TransactionID?,
        over connection: StoreConnection
    ) async throws -> (counts: SubscriptionRaise.Counts, next: TransactionID?)
}

extension JobWork {
    /// Counts the subscriptions that a raise is about, which changes nothing.
    func count(
        _ work: RaiseWork,
        over connection: StoreConnection,
        _ meter: JobMeter
    ) async throws -> SubscriptionRaise.Counts {
        let raise = work.raise(because: nil, isDryRun: true)
        var counts = SubscriptionRaise.Counts()
        var place: TransactionID?
        meter.note(0)
        repeat {
            guard !meter.isAskedToStop else { throw CancellationError() }
            let found = try await page(of: raise, after: place, over: connection)
            counts = counts + found.counts
            place = found.next
            meter.note(RaiseWork.sum(counts))
        } while place != nil
        return counts
    }
}
