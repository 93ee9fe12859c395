import EventTypes
import Postgres
import ServiceKit

/// Keeps what merchants say of purchases whose refund is asked for.
struct ConsumptionHandler: Sendable {
    let client: PostgresClient
    let now: @Sendable () -> Timestamp

    /// Keeps a report of an app's transaction.
    ///
    /// - Throws: `ServerAPIError` if the app has no such transaction, or it is of a type that this
    ///   call is not about.
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

    /// The newest report of a transaction, as JSON; `nil` if nothing was said.
    func newest(of id: TransactionID) async throws -> [UInt8]? {
        try await client.withConnection { try ConsumptionStore.newest(of: id, on: $0) }
    }
}
