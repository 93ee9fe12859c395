package import EventTypes

/// The open dead letters of one key in one service, counted.
package struct OpenLetters: Hashable, Sendable {
    /// The service.
    package let service: String
    /// The key, mostly an account.
    package let key: String
    /// The number of dead events.
    package let dead: Int
    /// The number of events that are parked behind them.
    package let parked: Int
    /// The time at which the first of them was recorded.
    package let since: MachineTime
    /// Whether a redrive was asked for and is not done yet.
    package let isAsked: Bool

    /// Makes a count.
    package init(
        service: String,
        key: String,
        dead: Int,
        parked: Int,
        since: MachineTime,
        isAsked: Bool
    ) {
        self.service = service
        self.key = key
        self.dead = dead
        self.parked = parked
        self.since = since
        self.isAsked = isAsked
    }
}
