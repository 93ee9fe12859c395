import EventTypes

/// The newest stamps of the pages that are open, each of which was read for all who look at it.
///
/// A story is read from every database. However many pages show it, it is read by one task at a time,
/// and once a second. A failure is kept as long, so a database that is away is not asked more often.
actor NewestStamps {
    /// The age at which a stamp is read again.
    static let ageMax: Duration = .seconds(1)
    /// The most stamps that are kept; what is read beyond it is read for each page.
    static let countMax = 1000

    private struct Kept {
        let stamp: Result<String, any Error>
        /// The time at which the reading began.
        let readAt: MachineTime
    }

    private let now: @Sendable () -> MachineTime
    private var kept: [TransactionID: Kept] = [:]
    private var running: [TransactionID: Task<Result<String, any Error>, Never>] = [:]

    init(now: @escaping @Sendable () -> MachineTime) { self.now = now }

    /// The number of stamps that are kept.
    var count: Int { kept.count }

    /// The newest stamp of a page; if it is too old, a new one.
    ///
    /// - Parameters:
    ///   - id: The transaction that the page shows.
    ///   - read: Reads the stamp.
    /// - Returns: The stamp.
    /// - Throws: What the reading has thrown.
    func stamp(
        of id: TransactionID,
        _ read: @escaping @Sendable () async throws -> String
    ) async throws -> String {
        let time = now()
        if let last = kept[id], isNew(last, at: time) { return try last.stamp.get() }
        if let task = running[id] { return try await task.value.get() }
        let task = Task { () -> Result<String, any Error> in
            do { return .success(try await read()) } catch { return .failure(error) }
        }
        running[id] = task
        let stamp = await task.value
        running[id] = nil
        // Others were read meanwhile, which began later than this one.
        let end = now()
        kept = kept.filter { isNew($0.value, at: end) }
        if kept.count < Self.countMax { kept[id] = Kept(stamp: stamp, readAt: time) }
        return try stamp.get()
    }

    /// Whether a stamp may be shown; one of a clock that was set back may not.
    private func isNew(_ stamp: Kept, at time: MachineTime) -> Bool {
        let age = time.duration(since: stamp.readAt)
        return age >= .zero && age < Self.ageMax
    }
}
