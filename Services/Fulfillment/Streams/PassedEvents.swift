import EventTypes

/// The newest events that this instance has passed on to its streams, until the log brings them, too.
///
/// Pure. An event that is forgotten too early is only read for nothing.
struct PassedEvents: Sendable {
    private let countMax: Int
    private var ids: Set<EventID> = []
    /// The ids in the order of their arrival; a ring once it is full.
    private var order: [EventID] = []
    private var oldest = 0

    /// Begins without events.
    ///
    /// - Parameter countMax: The largest number of events. A busy instance passes on a few thousand
    ///   before the log brings the first of them.
    init(countMax: Int = 8192) { self.countMax = countMax }

    /// Notes an event.
    mutating func note(_ id: EventID) {
        ids.insert(id)
        guard order.count == countMax else { return order.append(id) }
        ids.remove(order[oldest])
        order[oldest] = id
        oldest = (oldest + 1) % countMax
    }

    /// Whether an event was noted; it is forgotten then.
    mutating func take(_ id: EventID) -> Bool { ids.remove(id) != nil }
}
