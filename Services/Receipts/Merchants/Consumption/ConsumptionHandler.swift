import EventTypes
import Postgres
import ServiceKit

/// Stores merchants' reports on purchases whose refund is requested.
struct ConsumptionHandler: Sendable {
    let client: PostgresClient
    let now: @Sendable () -> StoreTime

    /// Stores a report on an app's transaction.
    ///
    /// - Throws: `ServerAPIError` if the app has no such transaction, or if this call does not
    ///   apply to the transaction's product type.
    func keep(
        _ report: ConsumptionReport,
        of id: TransactionID,
        in bundle: BundleID,
        _ version: ConsumptionReport.Version
    ) async throws {
        let now = now()
        try await client.withTransaction { connection in
            guard
                let type = try ConsumptionStore.lock(id, in: bundle, on: connection)
            else { throw ServerAPIError.transactionIDNotFound }
            guard ConsumptionReport.isAbout(type, version) else {
                throw version == .v1
                    ? ServerAPIError.transactionNotConsumable
                    : ServerAPIError.transactionTypeNotSupported
            }
            let time = try RequestedRefundStore.newest(of: id, on: connection)
            let known = try ConsumptionStore.newest(of: id, on: connection)
            guard
                ConsumptionRules.replaces(
                    known?.receivedAt,
                    by: now,
                    ofRequestAt: time
                )
            else { return }
            try ConsumptionStore.insert(report, of: id, at: now, on: connection)
        }
    }

    /// Returns the newest report on a transaction as JSON, or `nil` if there is none.
    func newest(of id: TransactionID) async throws -> [UInt8]? {
        try await client.withConnection { try ConsumptionStore.newest(of: id, on: $0)?.document }
    }

    /// Returns the newest report on a transaction and whether it came in time, or `nil` if there is
    /// none.
    func newestWithTimes(of id: TransactionID) async throws -> ConsumptionAnswer? {
        try await client.withConnection { connection in
            guard let known = try ConsumptionStore.newest(of: id, on: connection) else {
                return nil
            }
            // A later request makes no late report one in time.
            let time = try RequestedRefundStore.newest(
                of: id,
                by: known.receivedAt,
                on: connection
            )
            return ConsumptionAnswer(
                receivedAt: known.receivedAt,
                requestedAt: time,
                isLate: ConsumptionRules.isLate(known.receivedAt, ofRequestAt: time),
                report: known.document
            )
        }
    }
}
