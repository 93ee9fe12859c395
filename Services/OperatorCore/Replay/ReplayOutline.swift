package import EventTypes
package import Messaging

/// The plan of a replay: the events it would send, counted beforehand.
///
/// Pure. It holds only numbers, and one key for each account.
package struct ReplayOutline: Sendable {
    /// The number of selected events.
    package private(set) var events = 0
    /// The number of events of each type, by topic.
    package private(set) var counts: [String: [String: Int]] = [:]
    /// The time of the first event.
    package private(set) var first: StoreTime?
    /// The time of the last event.
    package private(set) var last: StoreTime?
    /// For each consumer, the number of events it acts on and has not applied.
    package private(set) var unapplied: [String: Int] = [:]
    /// The reasons for which events are not sent, with their numbers.
    package private(set) var refused: [String: Int] = [:]
    private var keys: Set<Int> = []

    package init() {}

    /// The number of accounts and products that the events belong to.
    package var keyCount: Int { keys.count }

    /// Counts an event.
    package mutating func add(_ event: OutboxEvent) {
        if let problem = Self.problem(of: event) { refused[problem, default: 0] += 1 }
        events += 1
        counts[event.topic, default: [:]][event.type.rawValue, default: 0] += 1
        first = min(first ?? event.time, event.time)
        last = max(last ?? event.time, event.time)
        var hasher = Hasher()
        hasher.combine(event.key)
        keys.insert(hasher.finalize())
    }

    /// Adds a number of events that a consumer has not applied.
    package mutating func add(unapplied count: Int, to consumer: String) {
        unapplied[consumer, default: 0] += count
    }

    /// The reason for which an event may not be sent again; `nil` if it may.
    ///
    /// Events are decoded in full before they are sent. An event of an unknown version, or one that
    /// cannot be decoded as its type, is named and not sent.
    package static func problem(of event: OutboxEvent) -> String? {
        do {
            switch event.type {
            case .productChanged: _ = try EventCoding.decode(ProductChanged.self, from: event.data)
            case .subscriptionGroupChanged:
                _ = try EventCoding.decode(SubscriptionGroupChanged.self, from: event.data)
            case .receiptIssued: _ = try EventCoding.decode(ReceiptIssued.self, from: event.data)
            case .receiptReissued:
                _ = try EventCoding.decode(ReceiptReissued.self, from: event.data)
            case .deliveryConfirmed:
                _ = try EventCoding.decode(DeliveryConfirmed.self, from: event.data)
            case .queueChanged, .transactionFinished:
                _ = try EventCoding.decode(QueueChanged.self, from: event.data)
            case .accountChanged: _ = try EventCoding.decode(AccountChanged.self, from: event.data)
            case .subscriptionChanged:
                _ = try EventCoding.decode(SubscriptionChanged.self, from: event.data)
            case .refundRequestChanged:
                _ = try EventCoding.decode(RefundRequestChanged.self, from: event.data)
            case .familyChanged: _ = try EventCoding.decode(FamilyChanged.self, from: event.data)
            case .massExtensionChanged:
                _ = try EventCoding.decode(MassExtensionChanged.self, from: event.data)
            case .clockChanged: _ = try EventCoding.decode(ClockChanged.self, from: event.data)
            case .queueAccountChanged:
                _ = try EventCoding.decode(QueueAccountChanged.self, from: event.data)
            case .queueSubscriptionChanged:
                _ = try EventCoding.decode(QueueSubscriptionChanged.self, from: event.data)
            case let type where EventType.all.contains(type):
                _ = try EventCoding.decode(TransactionChanged.self, from: event.data)
            default: return "\(event.type) has an unknown version"
            }
        } catch {
            return "\(event.type) cannot be read as an event of its type"
        }
        return nil
    }
}
