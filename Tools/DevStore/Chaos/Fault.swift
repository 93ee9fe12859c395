/// The faults that can strike a target.
enum Fault: Hashable, Sendable {
    /// The target is killed and started again.
    ///
    /// - Parameter beforeCommit: Whether the kill waits for the moment between a service's work on a
    ///   batch and its commit, which chance alone seldom hits.
    case kill(beforeCommit: Bool)
    /// The target is frozen and then continues.
    case hang
    /// The connection drops all traffic.
    ///
    /// - Parameter thenCut: Whether its connections are closed when it is light again. If not, what was
    ///   said in the dark arrives late.
    case dark(thenCut: Bool)
    /// The disk is full.
    ///
    /// - Parameter switchingLog: Whether PostgreSQL is made to ask for the next file of its write-ahead
    ///   log, without which it panics.
    case full(switchingLog: Bool)

    /// Its kind.
    var kind: FaultKind {
        switch self {
        case .kill: .kills
        case .hang: .hangs
        case .dark: .dark
        case .full: .disk
        }
    }
}
