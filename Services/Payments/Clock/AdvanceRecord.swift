import EventTypes

/// An advance of the store's clock and the work that was done on its way.
struct AdvanceRecord: Hashable, Sendable {
    let start: StoreTime
    let target: StoreTime
    /// The number of pieces that fell due, by the name of the work.
    let done: [String: Int64]
}
