import Foundation
import NIOCore
import Postgres
import StoreHarness

/// When the books of `payments` had what a client asked for, on the clock of the load.
///
/// PostgreSQL notes the moment of each commit (`track_commit_timestamp`). From it on, whoever asks
/// `payments` is told that the transaction is purchased; the buyer's own stream tells of it once it
/// is delivered.
enum BenchBooks {
    /// The moments at which transactions were committed as purchased.
    ///
    /// - Parameters:
    ///   - store: Whose PostgreSQL notes commits, and runs on this machine.
    ///   - start: Transactions that were purchased before this moment are left out.
    /// - Returns: By transaction, in nanoseconds of the monotonic clock.
    /// - Throws: `PostgresError`, also where commits are not noted.
    static func purchases(
        in store: StoreHarness,
        since start: Date
    ) async throws -> [Int: UInt64] {
        // The two clocks of this machine, at one moment.
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
            // Told again, of the same purchase.
            uniquingKeysWith: min
        )
    }
}
