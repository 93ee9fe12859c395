import EventTypes
import Messaging
import Postgres
import StoreTracing
import Subscriptions

/// Tells running subscriptions of the higher prices that the catalog has scheduled for them.
///
/// It goes through the subscriptions in pages. A page is one database transaction, which also notes how
/// far it is. So whatever is killed, each subscription is told once, and renewals wait for one page at
/// most.
struct PriceEnrolmentHandler: Sendable {
    /// The most subscriptions of a page.
    static let pageSize = 200

    let context: PaymentsContext
    /// Called after a commit that appended events to the outbox.
    let didCommit: @Sendable () -> Void

    /// Tells a page of subscriptions.
    ///
    /// - Parameter size: The most subscriptions.
    /// - Returns: Whether there may be more to do.
    /// - Throws: `PostgresError`, or an error of what is written.
    func tellPage(of size: Int = pageSize) async throws -> Bool {
        let (isOpen, hasEvents) = try await context.client.withTransaction { [self] connection in
            try tellPage(of: size, on: connection)
        }
        if hasEvents { didCommit() }
        return isOpen
    }

    private func tellPage(
        of size: Int,
        on connection: isolated PostgresConnection
    ) throws -> (isOpen: Bool, hasEvents: Bool) {
        guard let enrolment = try PriceEnrolmentStore.take(on: connection) else {
            return (false, false)
        }
        let time = context.now()
        let page = try SubscriptionStore.page(
            in: nil,
            after: enrolment.reachedID,
            limit: size,
            on: connection
        )
        let concerned = page.filter { PriceEnrolmentRules.concerns(enrolment, $0) }
        // The rows are read again with their locks, and may have changed meanwhile.
        let rows = try connection.read(
            SubscriptionStore.locking(Set(concerned.map(SubscriptionKey.init(of:))))
        )
        var books = SubscriptionBooks(context.subscriptions, at: time)
        books.take(rows)
        for row in rows {
            guard let subscription = row.subscription,
                let event = PriceEnrolmentRules.event(of: enrolment, for: subscription, at: time)
            else { continue }
            // A subscription that costs as much already, or is being charged a raise, stays as it is.
            _ = books.apply(event, to: row.key, within: TraceContext.begin())
        }
        try context.save(books.changedRows, decidedAt: time, on: connection)
        let last = page.count < size ? nil : page.last?.id
        try PriceEnrolmentStore.reach(last, of: enrolment, on: connection)
        let changes = try books.changes.map {
            try OutboxEvent($0, at: time, in: context.environment)
        }
        if !changes.isEmpty { try Outbox.append(changes, on: connection) }
        return (true, !changes.isEmpty)
    }
}
