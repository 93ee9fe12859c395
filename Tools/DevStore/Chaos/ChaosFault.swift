import ArgumentParser

/// The kinds of fault, as `--only` names them.
enum FaultKind: String, CaseIterable, Sendable, ExpressibleByArgument {
    /// SIGKILL of a process, an immediate stop of PostgreSQL.
    case kills
    /// SIGSTOP, and SIGCONT later.
    case hangs
    /// A line that swallows all traffic without a reset.
    case dark
    /// A file system without room.
    case disk
}

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

/// What a fault can strike.
enum FaultTarget: Hashable, Sendable, CustomStringConvertible {
    /// A service's process, by its name.
    case process(String)
    /// A node of the broker; the development broker has one, which forgets its whole log when killed.
    case broker(Int)
    /// PostgreSQL, its first process and all its backends.
    case postgres
    /// What is between a service's process and PostgreSQL.
    case databaseLine(String)
    /// What is between all services and the broker.
    case brokerLine
    /// The file system of PostgreSQL's data and write-ahead log.
    case disk

    /// What only one fault at a time may strike.
    ///
    /// Of several brokers only one is struck at a time: without a majority there would be nothing left to
    /// test. PostgreSQL and its disk count as one.
    enum Part: Hashable, Sendable {
        case process(String)
        case brokers
        case postgres
        case line(String)
    }

    /// The part that it belongs to.
    var part: Part {
        switch self {
        case .process(let name): .process(name)
        case .broker: .brokers
        case .postgres, .disk: .postgres
        case .databaseLine(let name): .line(name)
        case .brokerLine: .line("")
        }
    }

    var description: String {
        switch self {
        case .process(let name): name
        case .broker(let node): "broker \(node)"
        case .postgres: "postgresql"
        case .databaseLine(let name): "\(name) to postgresql"
        case .brokerLine: "services to broker"
        case .disk: "postgresql's disk"
        }
    }
}

/// One fault: when, what, to whom, and for how long.
struct Strike: Hashable, Sendable {
    /// From the start of the schedule.
    var time: Duration
    var fault: Fault
    var target: FaultTarget
    /// How long a target is away, hangs, is dark or full.
    var length: Duration

    /// When it is over, unless it had to wait for a commit.
    var end: Duration { time + length }

    /// What is said of it as it begins.
    var announcement: String {
        switch fault {
        case .kill(let beforeCommit): "\(target) is killed\(beforeCommit ? " before a commit" : "")"
        case .hang: "\(target) hangs"
        case .dark: "\(target) is dark"
        case .full(let switchingLog):
            "\(target) is full\(switchingLog ? ", the log's next file asked for" : "")"
        }
    }

    /// What is said of it as it ends.
    var relief: String {
        switch fault {
        case .kill: "\(target) is started again"
        case .hang: "\(target) goes on"
        case .dark(let thenCut): "\(target) is light again\(thenCut ? ", its connections cut" : "")"
        case .full: "\(target) has room again"
        }
    }
}
