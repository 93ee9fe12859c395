import EventTypes
import Logging
import Metrics
import Postgres

/// Notes again and again that the store is seen, and so notices that its database was restored.
struct BookGapHandler: Sendable {
    /// The pause between two notes.
    static let pause = Duration.seconds(5)

    let client: PostgresClient
    let machineNow: @Sendable () -> MachineTime
    let now: @Sendable () -> StoreTime
    let logger: Logger

    private let noticed = Counter(label: "book_gaps")

    /// Notes that the store is seen, if nobody has noted it for long.
    ///
    /// Whoever takes open attempts calls it before. So the attempts say whether the books may lack something
    /// about them.
    ///
    /// - Throws: `PostgresError`.
    func noteIfSilent() async throws {
        let memory = try await client.withConnection { try $0.read(BookGapStore.reading()) }
        guard let memory, memory.isSilent(at: machineNow()) else { return }
        try await note()
    }

    /// Notes that the store is seen.
    ///
    /// - Throws: `PostgresError`.
    func note() async throws {
        let (time, storeTime) = (machineNow(), now())
        let silentSince = try await client.withTransaction { connection -> MachineTime? in
            var memory = try BookGapStore.lock(at: time, on: connection)
            let seenAt = memory.seenAt
            let gap = memory.note(time, storeTime)
            try BookGapStore.save(memory, on: connection)
            guard let gap else { return nil }
            // An earlier gap before this one says nothing of attempts that were begun after it.
            let silentSince = max(seenAt, gap.start)
            try BookGapStore.doubtOpenAttempts(since: silentSince, on: connection)
            return silentSince
        }
        guard let silentSince else { return }
        noticed.increment()
        logger.notice(
            """
            Nobody has written to this database for a while: the store was switched off, or restored \
            from a backup. Renewals that may be charged already are looked for at the processor first
            """,
            metadata: ["since": "\(silentSince)"]
        )
    }
}
