import EventTypes
import Logging
import Postgres
import Subscriptions

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
                note(id, of: number, waiting: count, error)
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
                note(id, of: number, waiting: ids.count, error)
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
                try MassExtensionStore.allIDs(of: record, limit: pageSize, on: connection)
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

    private func note(
        _ id: TransactionID,
        of number: Int64,
        waiting count: Int,
        _ error: any Error
    ) {
        context.logger.log(
            level: failed.note(id) ? .error : .debug,
            RowError.remedy,
            metadata: [
                "work": "extension of all subscribers", "subscription.id": "\(id)",
                "request": "\(number)", "waiting": "\(count)", "error": "\(error)",
            ]
        )
    }
}
