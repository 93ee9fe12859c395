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
