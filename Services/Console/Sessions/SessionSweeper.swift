import EventTypes
import ServiceLifecycle

/// Forgets sessions and tickets that have ended, so that their tokens do not stay in memory.
struct SessionSweeper: Service {
    /// The longest time for which an ended one is kept.
    static let interval: Duration = .seconds(5)

    let tickets: TicketTable
    let sessions: SessionTable
    let signIns: SignInLimit
    let now: @Sendable () -> MachineTime

    func run() async throws {
        // It throws only if it is cancelled.
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: Self.interval)
                self.sweep()
            }
        }
    }

    /// Forgets what has ended by now.
    func sweep() {
        let time = now()
        tickets.sweep(at: time)
        sessions.sweep(at: time)
        signIns.sweep(at: time)
    }
}
