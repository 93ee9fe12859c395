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
                let type = try ConsumptionStore.productType(of: id, in: bundle, on: connection)
            else { throw ServerAPIError.transactionIDNotFound }
            guard ConsumptionReport.isAbout(type, version) else {
                throw version == .v1
                    ? ServerAPIError.transactionNotConsumable
                    : ServerAPIError.transactionTypeNotSupported
            }
            try ConsumptionStore.insert(report, of: id, at: now, on: connection)
        }
    }

    /// Returns the newest report on a transaction as JSON, or `nil` if there is none.
    func newest(of id: TransactionID) async throws -> [UInt8]? {
        try await client.withConnection { try ConsumptionStore.newest(of: id, on: $0) }
    }
}
