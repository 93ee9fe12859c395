import ClockAndIDs
import EventTypes

/// The process that has taken an attempt, for whoever looks into the table.
struct LeaseOwner: Hashable, Sendable {
    let id: SIMD16<UInt8>

    init(time: Timestamp) { id = EventID(time: time).bytes }
}
