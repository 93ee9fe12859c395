import ClockAndIDs
import EventTypes

/// The process that holds the lease of an attempt, stored for people who inspect the table.
struct LeaseOwner: Hashable, Sendable {
    let id: SIMD16<UInt8>

    init(time: MachineTime) { id = EventID(time: time).bytes }
}
