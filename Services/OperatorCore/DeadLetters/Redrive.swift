/// The outcome of a redrive of one key in one service.
package struct Redrive: Encodable, Hashable, Sendable {
    package let service: OperatedService
    package let key: String
    /// The number of events that were open.
    package let asked: Int
    /// The number of events that were applied.
    package var applied = 0
    /// The number of events that are still open.
    package var open: Int
    /// Whether the service has not started on them yet.
    package var isWaiting: Bool
    /// The reason of the first event that is still open.
    package var reason: String?

    /// Makes the outcome of a redrive that was just asked for.
    package init(service: OperatedService, key: String, asked: Int) {
        self.service = service
        self.key = key
        self.asked = asked
        self.open = asked
        isWaiting = true
    }
}
