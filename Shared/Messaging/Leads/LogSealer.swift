public import Logging
public import Postgres
public import Seals
public import ServiceLifecycle

/// Seals a log of a service that has no relay: an insert-only table.
///
/// It looks for new rows once a second, and up to five seconds later while there are none.
///
/// One sealer of a log works at a time, thanks to an advisory lock of the database. The others
/// stand by and take over if it stops making progress (``Lead``). If the old sealer then wakes up,
/// it chooses a seal number that is taken, and its insert fails on the primary key.
public struct LogSealer: Service {
    private let log: SealedLog
    private let client: PostgresClient
    private let logger: Logger

    /// The rests when everything is sealed.
    ///
    /// A new row stays unsealed for the longest of them at most. A leader moves at each look, so that is less
    /// than half of ``LockHolder/silenceMax``.
    private static let rests = LookRests(from: .seconds(1), to: .seconds(5))

    /// Makes a sealer, which does nothing before ``run()``.
    public init(_ log: SealedLog, client: PostgresClient, logger: Logger) {
        self.log = log
        self.client = client
        var logger = logger
        logger[metadataKey: "log"] = .string(log.name)
        self.logger = logger
    }

    /// Seals until the service shuts down.
    public func run() async {
        await cancelWhenGracefulShutdown {
            let retries = Retries()
            while !Task.isCancelled {
                do {
                    // "seals" in ASCII, combined with the number of the log.
                    let key = 0x7365_616C_7300 ^ Self.number(of: log)
                    try await client.withLead("seals of \(log.name)", key: key) { lead in
                        try await sealForEver(lead, retries)
                    }
                } catch is CancellationError {
                    return
                } catch {
                    let failures = retries.failed()
                    logger.warning(
                        "Sealing stopped and starts again",
                        metadata: ["error": "\(error)", "failures": "\(failures)"]
                    )
                    try? await retries.pause()  // If cancelled, the loop ends.
                }
            }
        }
    }

    /// A number for a log's name that is the same in every process.
    private static func number(of log: SealedLog) -> Int64 {
        log.name.utf8.reduce(0) { ($0 &* 31 &+ Int64($1)) & 0xFFFF }
    }

    private func sealForEver(_ lead: Lead, _ retries: Retries) async throws {
        var heads = try await client.withConnection { [log] connection in
            try SealStore.heads(of: log.name, on: connection)
        }
        var rests = Self.rests
        while true {
            try Task.checkCancellation()
            let count = try await sealBatch(&heads)
            lead.move()
            retries.succeeded()
            guard count == LogSeal.rowsMax else {
                try await Task.sleep(for: rests.rest(afterFinding: count > 0))
                continue
            }
        }
    }

    /// Seals the next rows.
    ///
    /// - Returns: The number of rows.
    private func sealBatch(_ heads: inout SealHeads) async throws -> Int {
        let sealed = heads.sealed
        let rows = try await client.withConnection { [log] connection in
            try log.rows(after: sealed, limit: LogSeal.rowsMax, on: connection)
        }
        guard !rows.isEmpty else { return 0 }
        // The heads advance only after the seals are stored.
        var after = heads
        let seals = after.seal(rows)
        try await client.withConnection { [log] connection in
            try SealStore.insert(seals, log: log.name, on: connection)
        }
        heads = after
        return rows.count
    }
}
