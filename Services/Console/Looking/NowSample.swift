import EventTypes
import OperatorCore

/// The state of the store at one moment.
struct NowSample: Sendable {
    /// The time at which it was taken, by the machine's clock.
    let takenAt: MachineTime
    /// The store's time then; `nil` if the database of `payments` could not be read.
    let storeTime: StoreTime?
    /// The services.
    let report: StatusReport
    /// The consumers; `nil` if a database could not be read.
    let lag: LagReport?
    /// The reason why the consumers are unknown.
    let lagProblem: String?
    /// The purchases of the last seconds.
    var rates = NowRates()
    /// The purchases of the last minutes.
    var line = NowLine()
    /// The time from events to their effects.
    var hops = NowHops()
}
