import ServiceLifecycle

/// Stops the jobs when the console stops, so that none is cut off in the middle of a batch.
struct JobService: Service {
    let board: JobBoard
    /// The lock of the folder in which the jobs are, held until the console ends.
    let lock: StateLock

    func run() async throws {
        // It ends at the shutdown, and only then.
        try? await gracefulShutdown()
        await board.shutDown()
    }
}
