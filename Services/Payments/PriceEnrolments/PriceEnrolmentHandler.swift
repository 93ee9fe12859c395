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
///
/// If a page has a subscription that cannot be told because of a broken row, each gets a database
/// transaction of its own. The broken one is noted and tried again later. Until then the enrolment stays
/// open, so an advance of the store's clock waits for it.
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
    /// The subscriptions that could not be told.
    let failed = FailedWork<TransactionID>(of: "raises")

    /// The most subscriptions that an enrolment goes on without.
    ///
    /// If there are more of them, the rows are not the cause, and its page fails.
    private static let leftMax = 1000

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
                try await tellLeft(of: key)
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
    /// - Returns: Whether it is open, nobody else works at it, and there may be another page.
    /// - Throws: `PostgresError`, or an error of what is read or written.
    func tellPage(of key: PriceEnrolment.Key) async throws -> Bool {
        do {
            let (isOpen, hasEvents) = try await context.client.withTransaction {
                [self] connection in
                try tellPage(of: key, on: connection)
            }
            if hasEvents { didCommit() }
            return isOpen
        } catch let error where RowError.matches(error) {
            return try await tellEach(of: key)
        }
    }

    private func tellPage(
        of key: PriceEnrolment.Key,
        on connection: isolated PostgresConnection
    ) throws -> (isOpen: Bool, hasEvents: Bool) {
        guard let enrolment = try PriceEnrolmentStore.take(key, on: connection) else {
            return (false, false)
        }
        let page = try PriceEnrolmentStore.page(
            of: enrolment,
            limit: pageSize,
            lookMax: lookMax,
            on: connection
        )
        let changes = try tell(
            try connection.read(SubscriptionStore.locking(page.keys)),
            of: enrolment,
            on: connection
        )
        try PriceEnrolmentStore.reach(page.lastID, of: enrolment, on: connection)
        if !changes.isEmpty { try Outbox.append(changes, on: connection) }
        return (page.lastID != nil || enrolment.leftCount == 0, !changes.isEmpty)
    }

    /// Tells locked subscriptions.
    ///
    /// - Returns: The events to append.
    private func tell(
        _ rows: [SubscriptionRow],
        of enrolment: PriceEnrolment,
        on connection: isolated PostgresConnection
    ) throws -> [OutboxEvent] {
        let time = context.now()
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
        return try books.changes.map { try OutboxEvent($0, at: time, in: context.environment) }
    }

    // MARK: - Broken rows

    /// Tells the next subscriptions one after the other, and notes those that cannot be told.
    ///
    /// - Returns: Whether there may be another page.
    private func tellEach(of key: PriceEnrolment.Key) async throws -> Bool {
        let taken = try await context.client.withTransaction { connection in
            try PriceEnrolmentStore.take(key, on: connection)
        }
        guard var enrolment = taken else { return false }
        let (ids, last) = try await nextIDs(of: enrolment)
        for id in ids {
            // Somebody else goes on with it, or the catalog has changed it.
            guard try await tell(id, of: enrolment) else { return true }
            enrolment.reachedID = id
        }
        _ = try await move(enrolment, to: last) { _, _ in [] }
        return last != nil
    }

    /// The ids of the subscriptions of the next page, and of the last one that was looked at.
    ///
    /// If no page can be read because a row is damaged, they are those of all subscriptions.
    private func nextIDs(
        of enrolment: PriceEnrolment
    ) async throws -> (ids: [TransactionID], last: TransactionID?) {
        do {
            let page = try await context.client.withConnection { [self] connection in
                try PriceEnrolmentStore.page(
                    of: enrolment,
                    limit: pageSize,
                    lookMax: lookMax,
                    on: connection
                )
            }
            return (page.ids.sorted(), page.lastID)
        } catch let error where RowError.matches(error) {
            let ids = try await context.client.withConnection { [self] connection in
                try SubscriptionStore.ids(
                    after: enrolment.reachedID,
                    limit: pageSize,
                    on: connection
                )
            }
            return (ids, ids.last)
        }
    }

    /// Tells one subscription, or notes that it cannot be told.
    ///
    /// - Returns: Whether the enrolment is as it was read.
    private func tell(_ id: TransactionID, of enrolment: PriceEnrolment) async throws -> Bool {
        do {
            let isMoved = try await move(enrolment, to: id) { [self] enrolment, connection in
                try tell(
                    try connection.read(SubscriptionStore.locking(id)),
                    of: enrolment,
                    on: connection
                )
            }
            failed.forget(id)
            return isMoved
        } catch let error where RowError.matches(error) {
            guard enrolment.leftCount < Self.leftMax else { throw error }
            leaveAlone(id, of: enrolment.key, error)
            return try await move(enrolment, to: id) { enrolment, connection in
                try PriceEnrolmentStore.note(id, isLeft: true, of: enrolment, on: connection)
                return []
            }
        }
    }

    /// Does something for an enrolment and notes how far it is, in one database transaction.
    ///
    /// - Returns: Whether the enrolment is as it was read; otherwise nothing is done.
    private func move(
        _ earlier: PriceEnrolment,
        to id: TransactionID?,
        _ body:
            @escaping @Sendable (PriceEnrolment, isolated PostgresConnection) throws
            -> [OutboxEvent]
    ) async throws -> Bool {
        let (isMoved, hasEvents) = try await context.client.withTransaction {
            connection -> (Bool, Bool) in
            guard let enrolment = try PriceEnrolmentStore.take(earlier.key, on: connection),
                enrolment.goesOn(from: earlier)
            else { return (false, false) }
            let changes = try body(enrolment, connection)
            try PriceEnrolmentStore.reach(id, of: enrolment, on: connection)
            if !changes.isEmpty { try Outbox.append(changes, on: connection) }
            return (true, !changes.isEmpty)
        }
        if hasEvents { didCommit() }
        return isMoved
    }

    /// Tries again to tell the subscriptions that an enrolment has gone on without.
    private func tellLeft(of key: PriceEnrolment.Key) async throws {
        let ids = try await context.client.withConnection { connection in
            try PriceEnrolmentStore.leftIDs(of: key, on: connection)
        }
        guard !ids.isEmpty else { return }
        let paused = failed.current()
        for id in ids where !paused.contains(id) {
            do {
                try await tellLeft(id, of: key)
                failed.forget(id)
            } catch let error where RowError.matches(error) {
                leaveAlone(id, of: key, error)
            }
        }
    }

    private func tellLeft(_ id: TransactionID, of key: PriceEnrolment.Key) async throws {
        let hasEvents = try await context.client.withTransaction {
            [self] connection -> Bool in
            guard let enrolment = try PriceEnrolmentStore.take(key, on: connection) else {
                return false
            }
            let changes = try tell(
                try connection.read(SubscriptionStore.locking(id)),
                of: enrolment,
                on: connection
            )
            try PriceEnrolmentStore.note(id, isLeft: false, of: enrolment, on: connection)
            if !changes.isEmpty { try Outbox.append(changes, on: connection) }
            return !changes.isEmpty
        }
        if hasEvents { didCommit() }
    }

    private func leaveAlone(_ id: TransactionID, of key: PriceEnrolment.Key, _ error: any Error) {
        failed.leaveAlone(
            id,
            because: error,
            [
                "work": "notice of a higher price", "subscription.id": "\(id)",
                "product": "\(key.productID)", "storefront": "\(key.storefront)",
            ],
            in: context.logger
        )
    }
}
