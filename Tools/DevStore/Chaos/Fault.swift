import StripeStandIn

/// The faults that can strike a target.
enum Fault: Hashable, Sendable {
    /// The target is killed and started again.
    ///
    /// - Parameter beforeCommit: Whether the kill waits for the moment between a service's work on
    ///   a batch and its commit, which is rarely hit by chance.
    case kill(beforeCommit: Bool)
    /// The target is frozen and then continues.
    case hang
    /// The connection drops all traffic.
    ///
    /// - Parameter thenCut: Whether the connections are closed at the end of the fault. If not, the
    ///   blocked bytes arrive late.
    case dark(thenCut: Bool)
    /// The disk is full.
    ///
    /// - Parameter switchingLog: Whether PostgreSQL is made to request the next file of its
    ///   write-ahead log. Without that file it panics.
    case full(switchingLog: Bool)
    /// The processor behaves like this at every call.
    case trouble(StandInFault.Kind)

    /// The kind of the fault.
    var kind: FaultKind {
        switch self {
        case .kill: .kills
        case .hang: .hangs
        case .dark: .dark
        case .full: .disk
        case .trouble: .processor
        }
    }
}
