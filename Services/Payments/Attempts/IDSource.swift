import ClockAndIDs
import EventTypes
import Ledger

/// Makes the ids of attempts and postings, so that plans need not draw random bits.
struct IDSource: Sendable {
    /// Ids with random bits of the kernel.
    static let random = IDSource { EventID(time: $0) }

    private let make: @Sendable (StoreTime) -> EventID

    init(_ make: @escaping @Sendable (StoreTime) -> EventID) { self.make = make }

    func attempt(at time: StoreTime) -> AttemptID { AttemptID(bytes: make(time).bytes) }

    func posting(at time: StoreTime) -> PostingID { PostingID(bytes: make(time).bytes) }
}
