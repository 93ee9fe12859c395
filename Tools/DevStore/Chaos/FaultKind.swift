import ArgumentParser

/// The kinds of fault, with their names for `--only`.
enum FaultKind: String, CaseIterable, Sendable, ExpressibleByArgument {
    /// SIGKILL of a process, or an immediate stop of PostgreSQL.
    case kills
    /// SIGSTOP, followed by SIGCONT.
    case hangs
    /// A connection that drops all traffic without a reset.
    case dark
    /// A full file system.
    case disk
    /// A processor that loses answers, fails, refuses or is slow.
    case processor
}
