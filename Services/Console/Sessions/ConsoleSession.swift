import EventTypes

/// A signed-in administrator.
struct ConsoleSession: Hashable, Sendable {
    /// The longest life of a session.
    static let ageMax: Duration = .seconds(8 * 3600)
    /// The longest pause between two requests.
    static let pauseMax: Duration = .seconds(30 * 60)

    /// The administrator who has signed in.
    let holder: AdministratorName
    /// The administrator's own token, which the services get.
    let token: String
    /// The text that each form of the session's pages carries.
    let csrf: String
    let begunAt: MachineTime
    /// Whether the store is a sandbox, which has a clock to set; it never changes.
    let isSandbox: Bool
    /// The time of the last request that a person made.
    var usedAt: MachineTime

    /// Whether the session goes on at a time.
    func isGoingOn(at now: MachineTime) -> Bool {
        now.duration(since: begunAt) < Self.ageMax && now.duration(since: usedAt) < Self.pauseMax
    }
}
