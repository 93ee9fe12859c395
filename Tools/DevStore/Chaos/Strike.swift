import StripeStandIn

/// One fault: its time, its kind, its target and its length.
struct Strike: Hashable, Sendable {
    /// The time from the start of the schedule.
    var time: Duration
    var fault: Fault
    var target: FaultTarget
    /// The time for which the target is away, hangs, is dark or full.
    var length: Duration

    /// The time at which it is over, unless it had to wait for a commit.
    var end: Duration { time + length }

    /// The text that announces it.
    var announcement: String {
        switch fault {
        case .kill(let beforeCommit): "\(target) is killed\(beforeCommit ? " before a commit" : "")"
        case .hang: "\(target) hangs"
        case .dark: "\(target) is dark"
        case .trouble(let kind): "\(target) is in trouble (\(kind.name))"
        case .full(let switchingLog):
            "\(target) is full\(switchingLog ? ", the log's next file asked for" : "")"
        }
    }

    /// The text that announces its end.
    var relief: String {
        switch fault {
        case .kill: "\(target) is started again"
        case .hang: "\(target) goes on"
        case .dark(let thenCut): "\(target) is light again\(thenCut ? ", its connections cut" : "")"
        case .full: "\(target) has room again"
        case .trouble: "\(target) is itself again"
        }
    }
}
