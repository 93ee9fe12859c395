/// What is done to a target.
enum Fault: Hashable, Sendable {
    /// It is killed and started again.
    ///
    /// - Parameter beforeCommit: Whether the kill waits for the moment between a service's work on a
    ///   batch and its commit, which chance alone seldom hits.
    case kill(beforeCommit: Bool)
    /// It is frozen and goes on.
    case hang
    /// It swallows what is said.
    ///
    /// - Parameter thenCut: Whether its connections are closed when it is light again. If not, what was
    ///   said in the dark arrives late.
    case dark(thenCut: Bool)
    /// It has no room.
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
