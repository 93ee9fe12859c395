public import Logging
public import Postgres
public import ServiceLifecycle

/// Seals a log of a service that has no relay: an insert-only table, once a second.
///
/// One sealer of a log works at a time, by an advisory lock of the database; the others stand by.
public struct LogSealer: Service {
    private let log: SealedLog
    private let client: PostgresClient
    private let logger: Logger

    /// How long it rests when everything is sealed: a row is without its seal that long.
    private static let pause = Duration.seconds(1)

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
            let policy = RetryPolicy()
            var failures = 0
            while !Task.isCancelled {
                do {
                    // "seals" in ASCII, and which.
                    try await client.withAdvisoryLock(0x7365_616C_7300 ^ Self.number(of: log)) {
                        try await sealForEver()
                    }
                } catch is CancellationError {
                    return
                } catch {
                    failures += 1
                    logger.warning(
                        "Sealing stopped and starts again",
                        metadata: ["error": "\(error)", "failures": "\(failures)"]
                    )
                    let delay = policy.delay(afterFailures: failures, jitter: .random(in: 0...1))
                    try? await Task.sleep(for: delay)  // Cancelled: the loop's condition ends it.
                }
            }
        }
    }

    /// A number of a log's name that is the same in every process.
    private static func number(of log: SealedLog) -> Int64 {
        log.name.utf8.reduce(0) { ($0 &* 31 &+ Int64($1)) & 0xFFFF }
    }

    private func sealForEver() async throws {
        var heads = try await client.withConnection { [log] connection in
            try SealStore.heads(of: log.name, on: connection)
        }
        while true {
            try Task.checkCancellation()
            guard try await sealBatch(&heads) == LogSeal.rowsMax else {
                try await Task.sleep(for: Self.pause)
                continue
            }
        }
    }

    /// Seals the next rows.
    ///
    /// - Returns: How many.
    private func sealBatch(_ heads: inout SealHeads) async throws -> Int {
        let sealed = heads.sealed
        let rows = try await client.withConnection { [log] connection in
            try log.rows(after: sealed, limit: LogSeal.rowsMax, on: connection)
        }
        guard !rows.isEmpty else { return 0 }
        // The heads go on only once the seals are there.
        var after = heads
        let seals = after.seal(rows)
        try await client.withConnection { [log] connection in
            try SealStore.insert(seals, log: log.name, on: connection)
        }
        heads = after
        return rows.count
    }
}
