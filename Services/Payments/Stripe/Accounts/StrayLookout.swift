/// The answers of several places to the searches of a batch.
///
/// Pure.
struct StrayLookout: Sendable {
    private var open: [AttemptID: Int] = [:]
    private var findings: [AttemptID: PeriodFinding] = [:]

    /// Makes a lookout.
    ///
    /// - Parameter ids: The attempts that search, each as often as there are places for it.
    init(_ ids: [AttemptID]) {
        for id in ids { open[id, default: 0] += 1 }
    }

    /// Notes the answer of a place.
    mutating func note(_ id: AttemptID, _ finding: PeriodFinding) {
        open[id, default: 1] -= 1
        guard findings[id] != .strayed, finding != .nothing else { return }
        findings[id] = finding
    }

    /// The answers of all places together; `nil` while one has not answered.
    ///
    /// One charge is enough to be certain, and one silence to be uncertain.
    func finding(of id: AttemptID) -> PeriodFinding? {
        open[id, default: 0] > 0 ? nil : findings[id] ?? .nothing
    }
}
