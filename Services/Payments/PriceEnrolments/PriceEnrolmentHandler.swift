import EventTypes
import Logging
import Messaging
import Postgres
import StoreTracing
import Subscriptions

/// Tells running subscriptions of the higher prices that the catalog has scheduled for them.
///
/// It goes through the subscriptions in pages. A page is one database transaction, which also notes how
/// far it is. So whatever is killed, each subscription is told once, and renewals wait for one page at
/// most. After each page comes a rest.
struct PriceEnrolmentHandler: Sendable {
    let context: PaymentsContext
    /// Called after a commit that appended events to the outbox.
    let didCommit: @Sendable () -> Void
    /// The most subscriptions that a page tells.
    var pageSize = 200
    /// The most subscriptions that a page looks at.
    var lookMax = 2000
    /// The rests between pages.
    var pages = PacedPages()

    /// Tells all subscribers of all open enrolments, and logs which enrolments failed.
    ///
    /// - Throws: `PostgresError` if the enrolments cannot be read; `CancellationError`.
    func tellAll() async throws {
        for (key, error) in try await tell() {
            let isPassing = (error as? PostgresError)?.isRetriable == true
            context.logger.log(
                level: isPassing ? .warning : .error,
                "Subscribers were not told of a higher price; it is tried again",
                metadata: [
                    "product": "\(key.productID)", "storefront": "\(key.storefront)",
                    "error": "\(error)",
                ]
            )
        }
    }

    /// Tells the subscribers of all open enrolments, of each to its end, the oldest first.
    ///
    /// A page that fails ends the turn of its enrolment, and the next one has its turn.
    ///
    /// - Returns: The enrolments that failed.
    /// - Throws: `PostgresError` if the enrolments cannot be read; `CancellationError`.
    func tell() async throws -> [(key: PriceEnrolment.Key, error: any Error)] {
        let keys = try await context.client.withConnection { connection in
            try PriceEnrolmentStore.openKeys(on: connection)
        }
        var failures: [(key: PriceEnrolment.Key, error: any Error)] = []
        for key in keys where !Task.isCancelled {
            do {
                try await pages.carryOutAll { try await tellPage(of: key) }
            } catch let error as CancellationError {
                throw error
            } catch {
                failures.append((key, error))
            }
        }
        return failures
    }

    /// Tells the next page of the subscriptions that an enrolment is about.
    ///
    /// - Parameter key: The place of the enrolment.
    /// - Returns: Whether it is open, and nobody else works at it.
    /// - Throws: `PostgresError`, or an error of what is read or written.
    func tellPage(of key: PriceEnrolment.Key) async throws -> Bool {
        let (isOpen, hasEvents) = try await context.client.withTransaction { [self] connection in
            try tellPage(of: key, on: connection)
        }
        if hasEvents { didCommit() }
        return isOpen
    }

    private func tellPage(
        of key: PriceEnrolment.Key,
        on connection: isolated PostgresConnection
    ) throws -> (isOpen: Bool, hasEvents: Bool) {
        guard let enrolment = try PriceEnrolmentStore.take(key, on: connection) else {
            return (false, false)
        }
        let time = context.now()
        let page = try PriceEnrolmentStore.page(
            of: enrolment,
            limit: pageSize,
            lookMax: lookMax,
            on: connection
        )
        let rows = try connection.read(SubscriptionStore.locking(page.keys))
        var books = SubscriptionBooks(context.subscriptions, at: time)
        books.take(rows)
        for row in rows {
            // It may have changed since the page was read.
            guard let subscription = row.subscription,
                let event = PriceEnrolmentRules.event(of: enrolment, for: subscription, at: time)
            else { continue }
            // A subscription that costs as much already, or is being charged a raise, stays as it is.
            _ = books.apply(event, to: row.key, within: TraceContext.begin())
        }
        try context.save(books.changedRows, decidedAt: time, on: connection)
        try PriceEnrolmentStore.reach(page.lastID, of: enrolment, on: connection)
        let changes = try books.changes.map {
            try OutboxEvent($0, at: time, in: context.environment)
        }
        if !changes.isEmpty { try Outbox.append(changes, on: connection) }
        return (true, !changes.isEmpty)
    }
}
