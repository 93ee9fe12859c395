import Foundation
import NIOCore
import Postgres
import StoreHarness

/// The times at which `payments` committed purchases, on the clock of the load.
///
/// PostgreSQL records the time of each commit (`track_commit_timestamp`). From then on `payments`
/// answers that the transaction is purchased. The buyer's stream reports it once it is delivered.
enum BenchBooks {
    /// Returns the times at which transactions were committed as purchased.
    ///
    /// - Parameters:
    ///   - store: A store whose PostgreSQL records commit times and runs on this machine.
    ///   - start: Transactions that were purchased before this moment are left out.
    /// - Returns: The times by transaction, in nanoseconds of the monotonic clock.
    /// - Throws: `PostgresError`, even if only commit times are not recorded.
    static func purchases(
        in store: StoreHarness,
        since start: Date
    ) async throws -> [Int: UInt64] {
        // The two clocks of this machine at the same moment.
        let uptime = Double(NIODeadline.now().uptimeNanoseconds)
        let wall = Date().timeIntervalSince1970
        let rows = try await store.withDatabase(of: .payments) { connection in
            try connection.query(
                """
                SELECT subject::bigint,
                    (extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000000)::bigint
                FROM outbox
                WHERE type = 'transaction.purchased.v1'
                    AND time >= to_timestamp(\(start.timeIntervalSince1970 - 1))
                """
            ).map { try $0.decode(Int64.self, Int64.self) }
        }
        return Dictionary(
            rows.map { id, microseconds in
                let age = wall - Double(microseconds) / 1e6
                return (Int(id), UInt64(uptime - age * 1e9))
            },
            // A second event of the same purchase is ignored.
            uniquingKeysWith: min
        )
    }
}
