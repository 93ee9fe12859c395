import ArgumentParser

/// The kinds of fault, as `--only` names them.
enum FaultKind: String, CaseIterable, Sendable, ExpressibleByArgument {
    /// SIGKILL of a process, an immediate stop of PostgreSQL.
    case kills
    /// SIGSTOP, and SIGCONT later.
    case hangs
    /// A connection that drops all traffic without a reset.
    case dark
    /// A full file system.
    case disk
}
