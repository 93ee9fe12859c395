import EventTypes

/// The newest sample of the store: at most one is taken at a time, and one every few seconds.
actor NewestSample {
    /// The age at which a sample is replaced.
    static let ageMax: Duration = .seconds(2)

    private let now: @Sendable () -> MachineTime
    private var last: NowSample?
    private var running: Task<NowSample, Never>?

    init(now: @escaping @Sendable () -> MachineTime) { self.now = now }

    /// The newest sample; if it is too old, a new one.
    func sample(_ take: @escaping @Sendable () async -> NowSample) async -> NowSample {
        if let last, now().duration(since: last.takenAt) < Self.ageMax { return last }
        if let running { return await running.value }
        let task = Task { await take() }
        running = task
        let sample = await task.value
        last = sample
        running = nil
        return sample
    }
}
