import EventTypes
import Logging
import Messaging
import Postgres
import StoreTracing
import Subscriptions

/// Extends all subscribers of a product, page by page (rules S220 to S223 of docs/subscriptions.md).
///
/// Each page is one database transaction, which extends its subscriptions and moves the place of the
/// request. So a process that is killed leaves nothing half done, and another goes on from there.
/// One process at a time works on a request: it holds the lock of its row. After each page comes a rest.
///
/// If a page has a broken row, each subscription gets a database transaction of its own. The broken one
/// is noted and tried again later. Until it is decided it counts neither as extended nor as failed, and
/// the request is not complete.
struct MassExtensionHandler: Sendable {
    /// The answer to a request.
    enum Reply: Hashable, Sendable {
        /// The product is no subscription, or there is no such product.
        case unknownProduct
        /// The identifier was used for another request.
        case differs
        /// The request as it is now.
        case accepted(MassExtension)
    }

    let context: PaymentsContext
    let products: ProductStore
    /// Called after a commit that appended events to the outbox.
    let didCommit: @Sendable () -> Void
    /// The number of subscriptions that a page looks at.
    var pageSize = 200
    /// The rests between pages.
    var pages = PacedPages()
    /// The subscriptions that could not be extended because of a broken row.
    let failed = FailedWork<TransactionID>(of: "extensions")

    /// Accepts a request; one that repeats another is that one.
    ///
    /// - Parameters:
    ///   - request: The request, without a number.
    ///   - act: The act of the administrator; `nil` if a merchant's server asks.
    ///   - trace: The trace of the request.
    /// - Returns: The request as it is now, or the reason why it is refused.
    /// - Throws: `PostgresError`, or an error of what is written.
    func accept(
        _ request: MassExtension,
        by act: Act?,
        trace: TraceContext
    ) async throws -> Reply {
        let (reply, isNew) = try await context.client.withTransaction {
            connection -> (Reply, Bool) in
            if let reply = try Self.repetition(of: request, on: connection) {
                return (reply, false)
            }
            let product = try connection.read(
                products.load([request.productID], at: context.now())
            )[request.productID]
            guard product?.type == .autoRenewableSubscription else {
                return (.unknownProduct, false)
            }
            guard
                let inserted = try MassExtensionStore.insert(
                    request,
                    by: act,
                    traceparent: trace,
                    on: connection
                )
            else {
                // The same request was accepted at this moment.
                return (try Self.repetition(of: request, on: connection) ?? .differs, false)
            }
            let accepted = MassExtensionChanged(
                request: inserted.request,
                changedAt: request.acceptedAt,
                act: act
            )
            try Outbox.append([try OutboxEvent(accepted, traceparent: trace)], on: connection)
            return (.accepted(inserted.request), true)
        }
        if isNew { didCommit() }
        return reply
    }

    /// The answer to a request whose identifier is known; `nil` if it is not.
    private static func repetition(
        of request: MassExtension,
        on connection: isolated PostgresConnection
    ) throws -> Reply? {
        try MassExtensionStore.load(
            request.requestIdentifier,
            of: request.productID,
            in: request.bundleID,
            on: connection
        ).map { $0.request.asksForTheSame(as: request) ? .accepted($0.request) : .differs }
    }

    /// Reads the request with an identifier for a product of an app; `nil` if there is none.
    func request(
        _ identifier: String,
        of product: ProductID,
        in bundle: BundleID
    ) async throws -> MassExtension? {
        try await context.client.withConnection { connection in
            try MassExtensionStore.load(identifier, of: product, in: bundle, on: connection)?
                .request
        }
    }

    /// Works on all open requests, and reports those that failed in the log.
    ///
    /// - Throws: `PostgresError` if the requests cannot be read; `CancellationError`.
    func workOnAll() async throws {
        for (number, error) in try await work() {
            let isPassing = (error as? PostgresError)?.isRetriable == true
            context.logger.log(
                level: isPassing ? .warning : .error,
                "A page of an extension of all subscribers failed; it is tried again",
                metadata: ["request": "\(number)", "error": "\(error)"]
            )
        }
    }

    /// Works on all open requests, each to its end, the oldest first.
    ///
    /// A page that fails ends the turn of its request, and the next request has its turn.
    ///
    /// - Returns: The requests that failed, by their numbers.
    /// - Throws: `PostgresError` if the requests cannot be read; `CancellationError`.
    func work() async throws -> [(number: Int64, error: any Error)] {
        let numbers = try await context.client.withConnection { connection in
            try MassExtensionStore.openNumbers(on: connection)
        }
        var failures: [(number: Int64, error: any Error)] = []
        for number in numbers where !Task.isCancelled {
            do {
                try await workOnLeft(of: number)
                try await pages.carryOutAll { try await workOnPage(of: number) }
            } catch let error as CancellationError {
                throw error
            } catch {
                failures.append((number, error))
            }
        }
        return failures
    }

    /// Works on the next page of a request.
    ///
    /// - Returns: Whether nobody else works on it, and there may be another one.
    private func workOnPage(of number: Int64) async throws -> Bool {
        do {
            let (hasWorked, goesOn) = try await context.client.withTransaction {
                [self] connection -> (Bool, Bool) in
                guard var record = try MassExtensionStore.takeOpen(number, on: connection) else {
                    return (false, false)
                }
                let page = try MassExtensionStore.page(
                    of: record,
                    limit: pageSize,
                    on: connection
                )
                try extend(page, &record, on: connection)
                return (true, page.lastID != nil || record.leftCount == 0)
            }
            if hasWorked { didCommit() }
            return goesOn
        } catch let error where RowError.matches(error) {
            return try await workOnEach(of: number, after: error)
        }
    }

    /// Extends the subscriptions of a page, and moves the place of the request.
    func extend(
        _ page: MassExtensionStore.Page,
        _ record: inout MassExtensionRecord,
        on connection: isolated PostgresConnection
    ) throws {
        let rows = try connection.read(SubscriptionStore.locking(Set(page.keys)))
        if let last = page.lastID { record.lookedAtID = last }
        let isLast = page.lastID == nil && record.leftCount == 0
        try extend(rows, &record, isLast: isLast, on: connection)
    }

    /// Extends locked subscriptions, and completes the request after the last.
    func extend(
        _ rows: [SubscriptionRow],
        _ record: inout MassExtensionRecord,
        isLast: Bool,
        on connection: isolated PostgresConnection
    ) throws {
        let before = record.request
        var settlement = Settlement(context, within: record.traceparent)
        let time = settlement.plan.time
        try settlement.lock(
            rows.compactMap { $0.subscription?.period.transactionID },
            on: connection
        )
        let wanted = RequestedExtension(of: before)
        var events: [MassExtensionChanged] = []
        for row in rows {
            // It may have ended, changed or moved since the page was read.
            guard let subscription = row.subscription, subscription.state.isRunning,
                row.key.bundleID == before.bundleID,
                subscription.product.id == before.productID,
                before.storefronts?.contains(subscription.storefront) != false
            else { continue }
            let move = settlement.plan.extend(row.key, by: wanted, within: record.traceparent)
            if move.refusal == nil {
                record.request.succeededCount += 1
            } else {
                record.request.failedCount += 1
                events.append(
                    MassExtensionChanged(request: before, failed: subscription, changedAt: time)
                )
            }
        }
        if isLast {
            record.request.completedAt = time
            events.append(MassExtensionChanged(request: record.request, changedAt: time))
        }
        try MassExtensionStore.save(record, on: connection)
        settlement.others = try events.map {
            try OutboxEvent($0, traceparent: record.traceparent)
        }
        _ = try settlement.write(on: connection)
    }
}

extension RequestedExtension {
    /// The beginning of the identifiers of extensions that belong to a request for all subscribers.
    static let massPrefix = "mass extension "

    /// The extension of each subscription of a request.
    ///
    /// No other request has such an identifier: those of administrators have no space, and merchants'
    /// servers may not begin theirs with ``massPrefix``.
    fileprivate init(of request: MassExtension) {
        self.init(
            id: "\(Self.massPrefix)\(request.number)",
            days: request.days,
            reasonCode: request.reasonCode
        )
    }
}

// MARK: - Rows that cannot be extended

extension MassExtensionHandler {
    /// The most subscriptions that a request goes on without.
    ///
    /// If there are more of them, the rows are not the cause, and its page fails.
    private static let leftMax = 1000

    /// Extends the next subscriptions one after the other, and notes those that cannot be extended.
    ///
    /// - Parameters:
    ///   - number: The number of the request.
    ///   - pageError: The error of the page that they are in.
    /// - Returns: Whether there may be another page.
    /// - Throws: `PostgresError`, or the error of the page if no subscription is its cause.
    func workOnEach(of number: Int64, after pageError: any Error) async throws -> Bool {
        guard let ids = try await nextIDs(of: number) else { return false }
        if ids.isEmpty { throw pageError }
        for id in ids {
            do {
                guard try await extend(id, of: number, wasLeft: false) else { return false }
                failed.forget(id)
            } catch let error where RowError.matches(error) {
                guard let count = try await leave(id, of: number, error) else { return false }
                leaveAlone(id, of: number, waiting: count, error)
            }
        }
        // The next page moves the place over what the request is not about.
        return true
    }

    /// Tries again to extend the subscriptions that a request has gone on without.
    func workOnLeft(of number: Int64) async throws {
        let ids = try await context.client.withConnection { connection in
            try MassExtensionStore.leftIDs(of: number, on: connection)
        }
        guard !ids.isEmpty else { return }
        let paused = failed.current()
        for id in ids where !paused.contains(id) {
            do {
                guard try await extend(id, of: number, wasLeft: true) else { return }
                failed.forget(id)
            } catch let error where RowError.matches(error) {
                leaveAlone(id, of: number, waiting: ids.count, error)
            }
        }
    }

    /// The next subscriptions of a request; those of every product if a page cannot be read.
    ///
    /// - Returns: Their ids; `nil` if somebody else works on the request, or it is complete.
    private func nextIDs(of number: Int64) async throws -> [TransactionID]? {
        let taken = try await context.client.withTransaction { connection in
            try MassExtensionStore.takeOpen(number, on: connection)
        }
        guard let record = taken else { return nil }
        do {
            return try await context.client.withConnection { [self] connection in
                try MassExtensionStore.page(of: record, limit: pageSize, on: connection).ids
            }
        } catch let error where RowError.matches(error) {
            return try await context.client.withConnection { [self] connection in
                try SubscriptionStore.ids(
                    after: TransactionID(number: record.lookedAtID),
                    through: TransactionID(number: record.lastID),
                    limit: pageSize,
                    on: connection
                )
            }
        }
    }

    /// Extends one subscription.
    ///
    /// - Returns: Whether nobody else works on the request.
    private func extend(
        _ id: TransactionID,
        of number: Int64,
        wasLeft: Bool
    ) async throws -> Bool {
        let hasWorked = try await context.client.withTransaction { [self] connection -> Bool in
            guard var record = try MassExtensionStore.takeOpen(number, on: connection) else {
                return false
            }
            // Another process may have been faster.
            if wasLeft {
                let left = try MassExtensionStore.leftIDs(of: number, on: connection)
                guard left.contains(id) else { return true }
                try MassExtensionStore.note(id, isLeft: false, of: number, on: connection)
            } else {
                guard id.number > record.lookedAtID else { return true }
                record.lookedAtID = id.number
            }
            let rows = try connection.read(SubscriptionStore.locking(id))
            try extend(rows, &record, isLast: false, on: connection)
            return true
        }
        if hasWorked { didCommit() }
        return hasWorked
    }

    /// Moves the place of a request over a subscription that cannot be extended now.
    ///
    /// - Returns: The number of subscriptions that wait; `nil` if somebody else works on the request.
    private func leave(
        _ id: TransactionID,
        of number: Int64,
        _ error: any Error
    ) async throws -> Int? {
        try await context.client.withTransaction { connection -> Int? in
            guard var record = try MassExtensionStore.takeOpen(number, on: connection),
                id.number > record.lookedAtID
            else { return nil }
            guard record.leftCount < Self.leftMax else { throw error }
            record.lookedAtID = id.number
            try MassExtensionStore.save(record, on: connection)
            try MassExtensionStore.note(id, isLeft: true, of: number, on: connection)
            return record.leftCount + 1
        }
    }

    private func leaveAlone(
        _ id: TransactionID,
        of number: Int64,
        waiting count: Int,
        _ error: any Error
    ) {
        failed.leaveAlone(
            id,
            because: error,
            [
                "work": "extension of all subscribers", "subscription.id": "\(id)",
                "request": "\(number)", "waiting": "\(count)",
            ],
            in: context.logger
        )
    }
}
